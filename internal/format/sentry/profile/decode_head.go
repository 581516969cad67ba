// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"errors"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// The decoders of the small fields, for encoding/json. Unlike the scalars' own, these report what they could not use: the
// caller counts it as a flaw.

var errWrongType = errors.New("not of the published type")

// Text takes strings; null is absent, a number is taken as its text and reported.
type text string

func (t *text) UnmarshalJSON(token []byte) error {
	content, ok := jsonscan.StringOrNumber(token)
	*t = text(content)
	if jsonscan.IsNull(token) || (ok && token[0] == '"') {
		return nil
	}
	return errWrongType
}

// firstTransaction takes the first element of the list "transactions", which has one in every SDK that sends it. The others
// are passed over, not decoded: a hostile list is long.
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
