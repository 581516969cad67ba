// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"errors"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Decoders of the small fields, for encoding/json. Unlike those of the scalars, they return an
// error for unusable values, which the caller counts as a flaw.

var errWrongType = errors.New("not of the published type")

// text is a string. Null means absent; a number becomes its text and is a flaw.
type text string

func (t *text) UnmarshalJSON(token []byte) error {
	content, ok := jsonscan.StringOrNumber(token)
	*t = text(content)
	if jsonscan.IsNull(token) || (ok && token[0] == '"') {
		return nil
	}
	return errWrongType
}

// firstTransaction is the first element of the list "transactions". SDKs that send the list send
// one element. Further elements are skipped without decoding, because a hostile list may be long.
type firstTransaction struct{ into **ProfileTransaction }

func (t *firstTransaction) UnmarshalJSON(list []byte) error {
	s := jsonscan.Scanner{Data: list}
	switch s.Peek() {
	case '[':
	case 'n':
		return nil
	default:
		return errWrongType
	}
	s.Open('[')
	if n := 0; !s.Element(&n) || *t.into != nil {
		return nil
	}
	return json.Unmarshal(s.Value(), t.into)
}
