// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findIPv6 returns the positions of the IPv6 addresses in a text, like
// regexp.FindAllStringSubmatchIndex: each address with the delimiters around it, then the address
// itself. It finds the same as Relay's expression (see the tests). That expression
// has more than a thousand states: for a text of colons, it takes a hundred times longer than for
// other texts.
//
// A match consumes its delimiters, so only the first of two addresses with a single space between
// them is found, as in Relay.
func findIPv6(text string) (found [][]int) {
	for at := 0; ; {
		colon := strings.IndexByte(text[at:], ':')
		if colon < 0 {
			return found
		}
		at = max(at, at+colon-maxBeforeColon)
		from, to := -1, -1
		if size := delimiter(text[at:]); size > 0 {
			from = at + size
			to = addressEnd(text, from)
		}
		if to < 0 && at == 0 {
			from = 0
			to = addressEnd(text, from)
		}
		if to < 0 {
			at++
			continue
		}
		end := to + delimiter(text[to:])
		found = append(found, []int{at, end, from, to})
		at = end
	}
}

const (
	maxGroup  = 4 // digits
	maxGroups = 8
	maxOctet  = 3

	maxBeforeColon = utf8.UTFMax + maxGroup
)

// delimiter returns the size of the space or punctuation character at the start of a text, 0 if
// there is none.
func delimiter(text string) int {
	if text == "" {
		return 0
	}
	if b := text[0]; b < utf8.RuneSelf {
		if b > ' ' && b < 0x7f && !isAlphanumeric(b) || b == ' ' || b >= '\t' && b <= '\r' {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRuneInString(text); r == '\u0085' || unicode.Is(unicode.Z, r) {
		return size
	}
	return 0
}

func isAlphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// ends reports whether an address may end at a position.
func ends(text string, i int) bool {
	return i == len(text) || delimiter(text[i:]) > 0
}

// addressEnd returns the end of the address that starts at a position, -1 if there is none. In
// Relay's expression, a colon may follow an address, which hides most forms behind shorter ones: of
// 2001:db8::1, only db8::1 is found.
func addressEnd(text string, from int) int {
	n, at := 0, from // groups with a colon
	for n < maxGroups {
		end := groupEnd(text, at)
		if end < 0 || end == len(text) || text[end] != ':' {
			break
		}
		n, at = n+1, end+1
	}
	switch n {
	case 0:
		return leadingColons(text, from)
	case maxGroups: // the last colon is the delimiter
		return at - 1
	case maxGroups - 1:
		if end := groupEnd(text, at); end >= 0 && ends(text, end) {
			return end
		}
	}
	if at == len(text) || text[at] != ':' {
		return -1
	}
	if ends(text, at+1) {
		return at + 1
	}
	if n == 1 {
		if end := groupsEnd(text, at, maxGroups-2); end >= 0 {
			return end
		}
	}
	if n <= maxGroups/2 {
		if end := ipv4End(text, at+1); end >= 0 && ends(text, end) {
			return end
		}
	}
	return -1
}

// leadingColons returns the end of an address that starts with two colons.
func leadingColons(text string, from int) int {
	if from == len(text) || text[from] != ':' {
		return -1
	}
	if end := groupsEnd(text, from+1, maxGroups-1); end >= 0 {
		return end
	}
	if from+1 < len(text) && text[from+1] == ':' && ends(text, from+2) {
		return from + 2
	}
	return -1
}

// groupsEnd returns the end of up to most groups with a colon before each, -1 if there is none.
func groupsEnd(text string, at, most int) int {
	last := -1
	for range most {
		if at == len(text) || text[at] != ':' {
			break
		}
		end := groupEnd(text, at+1)
		if end < 0 {
			break
		}
		if ends(text, end) {
			last = end
		}
		at = end
	}
	return last
}

// groupEnd returns the end of the hexadecimal digits at a position, -1 if there are none or too
// many.
func groupEnd(text string, from int) int {
	at := from
	for at < len(text) && isHexadecimal(text[at]) {
		if at++; at-from > maxGroup {
			return -1
		}
	}
	if at == from {
		return -1
	}
	return at
}

func isHexadecimal(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// ipv4End returns the end of the IPv4 address at a position, -1 if there is none.
func ipv4End(text string, at int) int {
	for octet := range 4 {
		if octet > 0 {
			if at == len(text) || text[at] != '.' {
				return -1
			}
			at++
		}
		from, value := at, 0
		for at < len(text) && text[at] >= '0' && text[at] <= '9' && at-from <= maxOctet {
			value = 10*value + int(text[at]-'0')
			at++
		}
		if at == from || at-from > maxOctet || value > 255 {
			return -1
		}
	}
	return at
}
