// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Functions that append JSON to the caller's buffer. A payload has tens of thousands of samples of
// the same shape: appending constants and numbers is simpler and faster than a writer that tracks
// commas.

// AppendJSONText appends a JSON string on one line. Invalid UTF-8 becomes U+FFFD, as in
// encoding/json.
func AppendJSONText(dst []byte, text string) []byte {
	dst = append(dst, '"')
	plain := 0 // text before this position is written
	for i := plainPrefix(text); i < len(text); i += plainPrefix(text[i:]) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r < utf8.RuneSelf || r == utf8.RuneError && size == 1 {
			dst = append(dst, text[plain:i]...)
			dst = appendEscaped(dst, r)
			plain = i + size
		}
		i += size
	}
	dst = append(dst, text[plain:]...)
	return append(dst, '"')
}

// plainPrefix returns the length of a beginning of a text that consists of printable ASCII without
// quotes and backslashes. It compares eight bytes at a time: a byte of a difference is negative if
// the byte of the text is smaller, and zero minus one if it is equal.
func plainPrefix(text string) (n int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for len(text) >= 8 && n < len(text) {
		at := min(n, len(text)-8) // the last eight bytes overlap the ones before
		word := text[at:]
		_ = word[7]
		x := uint64(word[0]) | uint64(word[1])<<8 | uint64(word[2])<<16 | uint64(word[3])<<24 |
			uint64(word[4])<<32 | uint64(word[5])<<40 | uint64(word[6])<<48 | uint64(word[7])<<56
		control, deleted := x-' '*ones, x+ones // deleted: 0x7f + 1 has the high bit
		quote, backslash := (x^'"'*ones)-ones, (x^'\\'*ones)-ones
		if (x|control|deleted|quote|backslash)&high != 0 {
			break
		}
		n = at + 8
	}
	for n < len(text) && text[n] < utf8.RuneSelf && !needsEscape[text[n]] {
		n++
	}
	return n
}

var needsEscape = func() (escape [utf8.RuneSelf]bool) {
	for c := range escape {
		escape[c] = c < ' ' || c == '"' || c == '\\' || c == 0x7f
	}
	return escape
}()

func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	case '"', '\\':
		return append(dst, '\\', byte(r))
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
}

// AppendSeconds appends Unix nanoseconds as exact seconds without trailing zeros. It is the inverse
// of ParseUnixNanos.
func AppendSeconds(dst []byte, nanos uint64) []byte {
	dst = strconv.AppendUint(dst, nanos/NanosPerSecond, 10)
	return AppendFraction(dst, uint32(nanos%NanosPerSecond))
}

// AppendFraction appends nanoseconds below one second as decimals without trailing zeros.
func AppendFraction(dst []byte, nanos uint32) []byte {
	if nanos == 0 {
		return dst
	}
	begin := len(dst)
	dst = append(dst, ".000000000"...)
	digits := (*[10]byte)(dst[begin:])
	high, low := nanos%100_000_000/10_000, nanos%10_000
	digits[1] += byte(nanos / 100_000_000)
	*(*[2]byte)(digits[2:]) = twoDigits[high/100]
	*(*[2]byte)(digits[4:]) = twoDigits[high%100]
	end := begin + 6
	if low != 0 {
		*(*[2]byte)(digits[6:]) = twoDigits[low/100]
		*(*[2]byte)(digits[8:]) = twoDigits[low%100]
		end = begin + len(digits)
	}
	for dst[end-1] == '0' {
		end--
	}
	return dst[:end]
}

// twoDigits holds the texts of 0 to 99.
var twoDigits = func() (texts [100][2]byte) {
	for i := range texts {
		texts[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return texts
}()

// AppendIndex appends a number that is usually small: an index or the position of a frame. Stacks
// consist of such numbers, and strconv would need half of the total time.
func AppendIndex(dst []byte, n uint32) []byte {
	switch {
	case n < 10:
		return append(dst, '0'+byte(n))
	case n < 100:
		return append(dst, twoDigits[n][:]...)
	case n < 1000:
		return append(append(dst, '0'+byte(n/100)), twoDigits[n%100][:]...)
	case n < 10_000:
		return append(append(dst, twoDigits[n/100][:]...), twoDigits[n%100][:]...)
	case n < 100_000:
		return append(append(append(dst, '0'+byte(n/10_000)), twoDigits[n/100%100][:]...), twoDigits[n%100][:]...)
	}
	return strconv.AppendUint(dst, uint64(n), 10)
}

// AppendFloat appends a finite number in its shortest form, like encoding/json.
func AppendFloat(dst []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// AppendAddress appends a member with a memory address as hex text, like Sentry's SDKs.
func AppendAddress(dst []byte, key string, address uint64) []byte {
	dst = append(AppendKey(dst, key), `"0x`...)
	return append(strconv.AppendUint(dst, address, 16), '"')
}

// AppendTextAlways appends a text member, even if the text is empty.
func AppendTextAlways(dst []byte, key, text string) []byte {
	return AppendJSONText(AppendKey(dst, key), text)
}

// AppendRaw appends a member whose value is JSON already. It appends nothing if the value is empty.
func AppendRaw(dst []byte, key string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(AppendKey(dst, key), value...)
}

// AppendKey begins a new member of the object at the end of dst. The key is not escaped: it is a
// field of the schema. Names from data need AppendName.
func AppendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] == '{' {
		dst = append(dst, '"')
	} else {
		dst = append(dst, `,"`...)
	}
	return append(append(dst, key...), `":`...)
}

// AppendName begins a new member with any name.
func AppendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(AppendJSONText(dst, name), ':')
}

func AppendText(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return AppendJSONText(AppendKey(dst, key), text)
}

func AppendCount(dst []byte, key string, count Optional[int]) []byte {
	if !count.Set {
		return dst
	}
	return strconv.AppendInt(AppendKey(dst, key), int64(count.Value), 10)
}

func AppendFlag(dst []byte, key string, flag Optional[bool]) []byte {
	if !flag.Set {
		return dst
	}
	return strconv.AppendBool(AppendKey(dst, key), flag.Value)
}
