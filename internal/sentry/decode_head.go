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

// UnmarshalJSON keeps the images that decode next to one that does not.
func (m *DebugMeta) UnmarshalJSON(object []byte) error {
	var meta struct {
		Images []json.RawMessage `json:"images"`
	}
	err := json.Unmarshal(object, &meta)
	m.Images = nil
	for _, text := range meta.Images {
		image, flawed := unmarshalImage(text)
		m.Images = append(m.Images, image)
		err = errors.Join(err, flawed)
	}
	return err
}

// unmarshalImage also accepts the older names of code_file, debug_id and uuid.
func unmarshalImage(object []byte) (Image, error) {
	var image struct {
		Image
		Name    string `json:"name"`
		ID      string `json:"id"`
		BuildID string `json:"build_id"`
	}
	err := json.Unmarshal(object, &image)
	image.CodeFile = firstText(image.CodeFile, image.Name)
	image.DebugID = firstText(image.DebugID, image.ID)
	image.UUID = firstText(image.UUID, image.BuildID)
	if image.Addr.Bad || image.VMAddr.Bad || image.Size.Bad {
		err = errors.Join(err, errWrongType)
	}
	return image.Image, err
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
