// SPDX-License-Identifier: Apache-2.0

package measure

// weight estimates, from the text of a JSON value, the memory of its decoded form.
type weight struct {
	values   int // members and elements; lists and objects count twice
	elements int // of lists
	depth    int // 0, or more than maxDepth
	text     int // bytes
}

// bytes returns an upper estimate of the memory of an item: decoded, and as OTLP.
func (w weight) bytes() int64 {
	return itemBytes + int64(w.values)*valueBytes + int64(w.elements)*elementBytes + 2*int64(w.text) // an exception is in two texts
}

// Sizes in memory. TestMeasureShortest in package frommeasure measures them.
const (
	itemBytes    = 5000 // an Event, its record, a resource and metrics of its own
	elementBytes = 300  // a Frame, the largest struct that occurs in lists
	valueBytes   = 112  // an attribute
)

// weigh reads the text of a JSON value before it is decoded, because a list of a million numbers
// would become a million structs. For invalid JSON the result is arbitrary.
func weigh(text []byte) (w weight) {
	w.text = len(text)
	var inList [maxDepth + 1]bool
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				w.depth = depth
				return w
			}
			w.values++
			if inList[depth] = c == '['; inList[depth] {
				w.elements++
			}
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case c == ',':
			w.values++
			if inList[depth] {
				w.elements++
			}
		}
	}
	return w
}
