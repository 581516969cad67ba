// SPDX-License-Identifier: Apache-2.0

package jsonscan

// Words finds values by words that are known in advance, such as the keys of an object. A lookup
// takes a quarter of the time of a lookup in a map, which hashes all bytes, and less if the words
// are in their usual order. Each member of an event needs one.
//
// The words are constants, so that a sender cannot choose words with equal hashes.
type Words[V any] struct {
	all   []word[V] // in the usual order
	index []uint16  // by hash: a position in all plus one, 0 = none. At most a quarter is used.
}

type word[V any] struct {
	text  string
	value V
}

// Get returns the value of a word.
func (w *Words[V]) Get(text string) (value V, ok bool) {
	if i := w.find(text); i >= 0 {
		return w.all[i].value, true
	}
	return value, false
}

// Next is Get for the words of an object. It first tries those that follow the last one. `after` is
// the position after the last one and starts at 0.
func (w *Words[V]) Next(after *int, text string) (value V, ok bool) {
	const attempts = 4 // fields that are often absent
	i, end := *after, min(*after+attempts, len(w.all))
	for i < end && w.all[i].text != text {
		i++
	}
	if i == end {
		if i = w.find(text); i < 0 {
			return value, false
		}
	}
	*after = i + 1
	return w.all[i].value, true
}

// Put sets the value of a word.
func (w *Words[V]) Put(text string, value V) {
	if i := w.find(text); i >= 0 {
		w.all[i].value = value
		return
	}
	if w.all = append(w.all, word[V]{text, value}); 4*len(w.all) > len(w.index) {
		w.index = make([]uint16, max(8, 2*len(w.index)))
		for i := range w.all {
			*w.slot(w.all[i].text) = uint16(i + 1)
		}
	}
	*w.slot(text) = uint16(len(w.all))
}

// All visits the words in the order in which they were put.
func (w *Words[V]) All(yield func(text string, value V) bool) {
	for i := range w.all {
		if !yield(w.all[i].text, w.all[i].value) {
			return
		}
	}
}

// find returns the position of a word, or -1.
func (w *Words[V]) find(text string) int {
	if len(text) == 0 || len(w.all) == 0 {
		return -1
	}
	return int(*w.slot(text)) - 1
}

// slot returns the place of a word in the index.
func (w *Words[V]) slot(text string) *uint16 {
	n, mask := len(text), len(w.index)-1
	hash := ((uint32(n)*31+uint32(text[0]))*31+uint32(text[n/2]))*31 + uint32(text[n-1])
	for i := int(hash * 0x9e3779b1 >> 16); ; i++ {
		if slot := &w.index[i&mask]; *slot == 0 || w.all[*slot-1].text == text {
			return slot
		}
	}
}
