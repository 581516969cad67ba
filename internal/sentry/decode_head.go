package sentry

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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

// measurements takes the object of series by name, and sorts it: JSON objects have no order that means anything.
type measurements []Measurement

func (m *measurements) UnmarshalJSON(object []byte) error {
	var byName map[string]struct {
		Unit   string `json:"unit"`
		Values []struct {
			Elapsed   Uint  `json:"elapsed_since_start_ns"`
			Timestamp float `json:"timestamp"`
			Value     float `json:"value"`
		} `json:"values"`
	}
	err := json.Unmarshal(object, &byName)
	*m = nil
	for name, series := range byName {
		measurement := Measurement{Name: name, Unit: series.Unit, Values: make([]MeasurementValue, 0, len(series.Values))}
		for _, v := range series.Values {
			if v.Elapsed.Bad || v.Timestamp.bad || v.Value.bad {
				err = errWrongType
				continue
			}
			measurement.Values = append(measurement.Values, MeasurementValue{v.Elapsed.Value, v.Timestamp.value, v.Value.value})
		}
		*m = append(*m, measurement)
	}
	slices.SortFunc(*m, func(a, b Measurement) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return err
}

// float is a number or numeric text, as Relay takes measurement values.
type float struct {
	value float64
	bad   bool
}

func (f *float) UnmarshalJSON(token []byte) error {
	text, _ := stringOrNumber(token)
	value, err := strconv.ParseFloat(text, 64)
	*f = float{value, err != nil}
	return nil
}
