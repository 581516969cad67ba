// SPDX-License-Identifier: Apache-2.0

package inapp

import "unsafe"

// Memo classifies the functions of a message. It reads each combination of long texts once, however
// many functions refer to it: texts are the same if they have the same memory, which must not
// change.
type Memo struct{ known map[frameKey]guess }

type guess struct{ inApp, known bool }

// text is the memory of a text.
type text struct {
	data *byte
	size int
}

func textOf(s string) text { return text{unsafe.StringData(s), len(s)} }

type frameKey struct {
	frameType             string
	start                 string // of the function: no rule reads more
	module, file, library text
}

const (
	// startOfFunction is longer than the prefixes of functions, with brackets in front of them.
	startOfFunction = 24

	// shortTexts is the size of the texts up to which a classification is as fast as a lookup.
	shortTexts = 256
)

// Guess returns the result of the function of the same name.
func (m *Memo) Guess(f Frame) (inApp, known bool) {
	if len(f.Module)+len(f.File)+len(f.Package)+len(f.Type) <= shortTexts {
		return Guess(f)
	}
	key := frameKey{f.Type[:min(len(f.Type), startOfFunction)], f.Function[:min(len(f.Function), startOfFunction)], textOf(f.Module), textOf(f.File), textOf(f.Package)}
	result, ok := m.known[key]
	if !ok {
		result.inApp, result.known = Guess(f)
		if m.known == nil {
			m.known = map[frameKey]guess{}
		}
		m.known[key] = result
	}
	return result.inApp, result.known
}
