// SPDX-License-Identifier: Apache-2.0

package scrub

import "strings"

// triggers are properties of a text that patterns require. scan finds all of them in one pass, and
// only patterns that can match are run.
type triggers uint16

const (
	hasWord   triggers = 1 << iota // a word of a sensitive key, see words
	hasBearer                      // "bearer"
	hasCookie                      // "cookie"
	hasCard                        // 15 consecutive digits, which dashes and spaces may separate
	hasSSN                         // three, two and four digits, separated by dashes
	hasIBAN                        // two upper-case letters and two digits at the start of a word
	hasIPv4                        // three dots between digits
	hasIPv6                        // two consecutive colons, or seven consecutive groups
	hasPEM                         // five consecutive dashes
	hasAt                          // @
	hasFold                        // a non-ASCII letter that (?i) equates with an ASCII letter: ſ and the Kelvin sign
)

// words are the literals of the password rule. A key or value is sensitive if it contains one, in
// any case. For "token", see sensitiveText.
var words = []string{
	"password", "secret", "passwd", "api_key", "api-key", "apikey", authWord, "credentials", "mysql_pwd", "privatekey", "private_key",
	"private-key", tokenWord,
}

const authWord, tokenWord = "auth", "token"

// Classes of bytes. The register of recent bytes contains a class for each byte.
const (
	classOther = iota
	classDigit // also the first byte of every non-ASCII rune: \d in Relay's patterns includes the digits of all scripts
	classDash
	classUpper
	classDot
	classColon
	classWord  // lower-case letters and the underscore
	classBlank // also the other bytes of non-ASCII runes
	classBits  = 3
)

var classes = func() (of [256]byte) {
	for b := range of {
		switch {
		case b >= '0' && b <= '9' || b >= 0xC0:
			of[b] = classDigit
		case b == '-':
			of[b] = classDash
		case b >= 'A' && b <= 'Z':
			of[b] = classUpper
		case b == '.':
			of[b] = classDot
		case b == ':':
			of[b] = classColon
		case b >= 'a' && b <= 'z' || b == '_':
			of[b] = classWord
		case b == ' ' || b >= '\t' && b <= '\r' || b >= 0x80:
			of[b] = classBlank
		}
	}
	return of
}()

func sequence(classes ...uint64) (all uint64) {
	for _, class := range classes {
		all = all<<classBits | class
	}
	return all
}

var (
	ssnSequence = sequence(classDigit, classDigit, classDigit, classDash, classDigit, classDigit, classDash,
		classDigit, classDigit, classDigit, classDigit)
	ibanSequence = sequence(classUpper, classUpper, classDigit, classDigit)
	dotSequence  = sequence(classDigit, classDot, classDigit)
)

const (
	ssnMask  = 1<<(11*classBits) - 1
	ibanMask = 1<<(4*classBits) - 1
	dotMask  = 1<<(3*classBits) - 1

	cardDigits = 15 // the length of the shortest card number
	ipv4Dots   = 3
	ipv6Colons = 7
	pemDashes  = 5
)

// scan returns the triggers of a text.
func scan(text string) (found triggers) {
	var (
		state              uint8
		recent             uint64 // classes of the most recent bytes
		card, dots, colons int
		dashes             int
	)
	for i := range len(text) {
		b := text[i]
		state = automaton.next[state][b]
		found |= automaton.found[state]
		class := classes[b]
		recent = recent<<classBits | uint64(class)
		switch class {
		case classDigit:
			card++
			dashes = 0
			if card >= cardDigits {
				found |= hasCard
			}
			if recent&dotMask == dotSequence {
				if dots++; dots >= ipv4Dots {
					found |= hasIPv4
				}
			}
			if recent&ssnMask == ssnSequence {
				found |= hasSSN
			}
			if recent&ibanMask == ibanSequence {
				switch recent >> (4 * classBits) & 7 {
				case classOther, classDash, classDot, classColon, classBlank:
					found |= hasIBAN
				case classDigit:
					if text[i-4] >= 0xC0 { // a rune without its other bytes
						found |= hasIBAN
					}
				}
			}
			if b >= 0x80 {
				colons = 0
			}
		case classDash:
			if dashes++; dashes >= pemDashes {
				found |= hasPEM
			}
			colons = 0
		case classColon:
			if recent>>classBits&7 == classColon {
				found |= hasIPv6
			}
			if colons++; colons >= ipv6Colons {
				found |= hasIPv6
			}
			card, dashes = 0, 0
		case classBlank: // a blank may separate the digits of a card
			colons, dashes = 0, 0
			if b >= 0x80 && (strings.HasSuffix(text[:i+1], "ſ") || strings.HasSuffix(text[:i+1], "\u212a")) {
				found |= hasFold
			}
		default:
			card, dashes = 0, 0
			switch {
			case b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F':
			case b == '@':
				found |= hasAt
				colons = 0
			default:
				colons = 0
			}
		}
	}
	return found
}

// automaton finds the words in one pass (Aho–Corasick), in any case.
var automaton = newAutomaton()

type wordAutomaton struct {
	next  [][256]uint8
	found []triggers
}

func newAutomaton() *wordAutomaton {
	a := &wordAutomaton{next: make([][256]uint8, 1), found: make([]triggers, 1)}
	for _, word := range words {
		a.add(word, hasWord)
	}
	a.add("bearer", hasBearer)
	a.add("cookie", hasCookie)

	// Breadth first: the failure state of a node is that of its parent, advanced by one byte.
	failure := make([]uint8, len(a.next))
	var queue []uint8
	for b := range 256 {
		if to := a.next[0][b]; to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.found[state] |= a.found[failure[state]]
		for b := range 256 {
			to := a.next[state][b]
			if to == 0 {
				a.next[state][b] = a.next[failure[state]][b]
				continue
			}
			failure[to] = a.next[failure[state]][b]
			queue = append(queue, to)
		}
	}
	for state := range a.next {
		for b := 'A'; b <= 'Z'; b++ {
			a.next[state][b] = a.next[state][b+'a'-'A']
		}
	}
	return a
}

func (a *wordAutomaton) add(word string, trigger triggers) {
	state := uint8(0)
	for i := range len(word) {
		to := a.next[state][word[i]]
		if to == 0 {
			to = uint8(len(a.next))
			a.next = append(a.next, [256]uint8{})
			a.found = append(a.found, 0)
			a.next[state][word[i]] = to
		}
		state = to
	}
	a.found[state] |= trigger
}
