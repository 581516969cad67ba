// SPDX-License-Identifier: Apache-2.0

package jsonscan

// Interner keeps texts that come again: the same few dozen keys stand in each of a thousand spans, and a copy of each would be
// most of what decoding allocates. They live as long as the document is decoded, and as long as what was decoded names them.
type interner struct {
	texts  map[string]string
	fields map[[2]string]string
}

// maxInterned and maxInternedLength bound what is kept: beyond them texts are copied as ever. The recorded containers have at most
// 90 keys, the longest of them of 44 bytes.
const (
	maxInterned       = 256
	maxInternedLength = 64
)

// Intern is string(text).
func (w *interner) Intern(text []byte) string {
	if known, ok := w.texts[string(text)]; ok {
		return known
	}
	word := string(text)
	if len(w.texts) < maxInterned && len(word) <= maxInternedLength {
		if w.texts == nil {
			w.texts = map[string]string{}
		}
		w.texts[word] = word
	}
	return word
}

// Field is object + "." + key.
func (w *interner) Field(object, key string) string {
	if known, ok := w.fields[[2]string{object, key}]; ok {
		return known
	}
	field := object + "." + key
	if len(w.fields) < maxInterned && len(field) <= maxInternedLength {
		if w.fields == nil {
			w.fields = map[[2]string]string{}
		}
		w.fields[[2]string{object, key}] = field
	}
	return field
}
