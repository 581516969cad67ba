package sentry

import (
	"encoding/json"
	"errors"
)

// The decoders of the small fields, for encoding/json. Unlike the scalars' own, these report what they could not use: the
// caller counts it as a flaw.

var errWrongType = errors.New("not of the published type")

// text takes strings; null is absent, a number is taken as its text and reported.
type text string

func (t *text) UnmarshalJSON(token []byte) error {
	content, ok := stringOrNumber(token)
	*t = text(content)
	if isNull(token) || (ok && token[0] == '"') {
		return nil
	}
	return errWrongType
}

// firstTransaction takes the first element of the list "transactions", which has one in every SDK that sends it.
type firstTransaction struct{ into **ProfileTransaction }

func (t *firstTransaction) UnmarshalJSON(list []byte) error {
	var transactions []*ProfileTransaction
	err := json.Unmarshal(list, &transactions)
	if len(transactions) > 0 && *t.into == nil {
		*t.into = transactions[0]
	}
	return err
}
