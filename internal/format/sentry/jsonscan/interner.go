// SPDX-License-Identifier: Apache-2.0

package jsonscan

// interner returns the same string for equal texts. A thousand spans have the same few dozen keys,
// and copies of them would be most of the memory that decoding allocates. An interner is used for
// one document.
type interner struct {
	texts  map[string]string
	fields map[[2]string]string
}

// maxInterned and maxInternedLength bound the memory of an interner, which copies any further or
// longer text. The recorded containers have at most 90 keys of at most 44 bytes.
const (
	maxInterned       = 256
	maxInternedLength = 64
)

// Intern returns the text as a string.
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

// Field returns object + "." + key.
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
