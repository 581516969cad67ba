// SPDX-License-Identifier: Apache-2.0

package jsonscan

import "sync"

// interner returns the same string for equal texts. A thousand spans have the same few dozen keys,
// and so have the items of a program: copies of them would be most of the memory that decoding
// allocates.
type interner struct{ texts map[string]string }

// interners are reused for further documents.
var interners = sync.Pool{New: func() any { return &interner{texts: map[string]string{}} }}

// maxInterned and maxInternedLength bound the memory of an interner, which copies any further or
// longer text. The recorded containers have at most 90 keys of at most 44 bytes.
const (
	maxInterned       = 256
	maxInternedLength = 64
)

// Intern returns the text as a string. Without an interner, it is a copy.
func (w *interner) Intern(text []byte) string {
	if w == nil {
		return string(text)
	}
	if known, ok := w.texts[string(text)]; ok {
		return known
	}
	word := string(text)
	if len(w.texts) < maxInterned && len(word) <= maxInternedLength {
		w.texts[word] = word
	}
	return word
}

// release makes the interner available to the next document. One that is full of texts of other
// programs is of no use to it.
func (w *interner) release() {
	if len(w.texts) >= maxInterned {
		clear(w.texts)
	}
	interners.Put(w)
}
