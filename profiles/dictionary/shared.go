// SPDX-License-Identifier: Apache-2.0

package dictionary

import "unsafe"

// sharedText is the memory of a text.
type sharedText struct {
	data *byte
	size int
	key  StringIndex // of the attribute with the text as value; -1: the text itself
}

// minShared is the size from which a text is found by its memory. Hashing a shorter one is as fast.
const minShared = 64

func sharedKey(s string, key StringIndex) sharedText {
	return sharedText{unsafe.StringData(s), len(s), key}
}

// SharedString returns the index of a text, like [Builder.String]. It is faster if many entries of
// a source refer to the same text: the text is hashed and compared only once, however long it is.
// The memory of the text must not change before [Builder.Release] or [Builder.Reset].
func (b *Builder) SharedString(s string) StringIndex {
	if len(s) < minShared {
		return b.String(s)
	}
	key := sharedKey(s, -1)
	known, ok := b.shared[key]
	if !ok {
		known = int32(b.String(s))
		b.share(key, known)
	}
	return StringIndex(known)
}

// SharedAttr returns the index of an attribute, like [Builder.AttrString]. The conditions of
// [Builder.SharedString] apply to its key and text.
func (b *Builder) SharedAttr(key, text string) AttributeIndex {
	keyIndex := b.SharedString(key)
	if len(text) < minShared {
		return b.attributeAt(keyIndex, StringValue(text), 0)
	}
	of := sharedKey(text, keyIndex)
	known, ok := b.shared[of]
	if !ok {
		known = int32(b.attributeAt(keyIndex, StringValue(text), 0))
		b.share(of, known)
	}
	return AttributeIndex(known)
}

func (b *Builder) share(key sharedText, index int32) {
	if b.shared == nil {
		b.shared = map[sharedText]int32{}
	}
	b.shared[key] = index
}

// TextBytes returns how many bytes of texts the Builder has hashed, since the last Reset.
func (b *Builder) TextBytes() int64 { return b.textBytes }
