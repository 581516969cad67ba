// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// An empty element of JSON, {} or null, has a few bytes, and up to 4 kB in memory. The limits bound
// the memory of a file to about 500 MB: maxValues that of numbers and texts, the others that of
// objects and lists.
const (
	maxValues = 8 << 20

	maxSpeedscopeObjects = 3 << 19 // a profile needs 350 bytes
	maxCPUProfileObjects = 3 << 19 // a node needs 300 bytes, and has two objects and a list
	maxOTLPObjects       = 1 << 20 // a span needs 450 bytes
	maxFirefoxObjects    = 1 << 17 // a thread needs 3.6 kB; frames and samples are columns of numbers
)

// nulls states whether a null counts as an object. Decoders allocate one for it, except in the
// columns of Firefox, where null is common.
type nulls bool

const (
	countNulls  nulls = true
	ignoreNulls nulls = false
)

// bounded is a reader of JSON that rejects files with more than a number of objects and lists.
func bounded(objects int, n nulls, read Reader) Reader {
	return func(data []byte, o importer.Options) (Content, error) {
		if err := limited(objects, n, data); err != nil {
			return Content{}, err
		}
		return read(data, o)
	}
}

// limited returns an error if the messages together exceed a number of objects and lists.
func limited(objects int, n nulls, messages ...[]byte) error {
	found, values := 0, 0
	for _, message := range messages {
		f, v := count(message, n)
		found, values = found+f, values+v
	}
	if found > objects || values > maxValues {
		return fmt.Errorf("it has %d objects and lists and %d values, at most %d and %d are read", found, values, objects, maxValues)
	}
	return nil
}

// count counts the objects and lists of JSON, with nulls if they are to be counted, and the commas.
func count(data []byte, n nulls) (objects, values int) {
	for _, c := range structure(data) {
		switch {
		case c == '{', c == '[', c == 'n' && bool(n): // outside of texts, only null has an n
			objects++
		case c == ',':
			values++
		}
	}
	return objects, values
}
