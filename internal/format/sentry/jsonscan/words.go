// SPDX-License-Identifier: Apache-2.0

package jsonscan

// Words finds values by words that are known in advance, such as the keys of an object. A lookup
// takes a quarter of the time of a lookup in a map, which hashes all bytes. Each member of an event
// needs one.
//
// The words are constants, so that a sender cannot choose words with equal hashes.
type Words[V any] struct {
	slots []word[V] // a power of two, of which at most half are used
	used  int
}

type word[V any] struct {
	text  string // "" = not used
	value V
}

// Get returns the value of a word.
func (w *Words[V]) Get(text string) (value V, ok bool) {
	if len(text) == 0 || w.used == 0 {
		return value, false
	}
	if slot := w.find(text); slot.text != "" {
		return slot.value, true
	}
	return value, false
}

// Put sets the value of a word.
func (w *Words[V]) Put(text string, value V) {
	if w.used++; 2*w.used > len(w.slots) {
		old := w.slots
		w.slots = make([]word[V], max(8, 2*len(old)))
		for i := range old {
			if old[i].text != "" {
				*w.find(old[i].text) = old[i]
			}
		}
	}
	*w.find(text) = word[V]{text, value}
}

// find returns the slot of a word, or the unused one in which it belongs.
func (w *Words[V]) find(text string) *word[V] {
	n, mask := len(text), len(w.slots)-1
	hash := (uint32(n)<<24 | uint32(text[0])<<16 | uint32(text[n/2])<<8 | uint32(text[n-1])) * 0x9e3779b1
	for i := int(hash >> 16); ; i++ {
		if slot := &w.slots[i&mask]; slot.text == "" || slot.text == text {
			return slot
		}
	}
}
