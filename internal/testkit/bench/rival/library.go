// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/json"
	"unsafe"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// Library decodes profiles into the columns that the translation reads. Results are valid until the
// next call.
type Library struct {
	Name    string
	Chunk   func(payload []byte) (*profile.Chunk, error)
	Profile func(payload []byte) (*profile.Profile, error)

	unmarshal func([]byte, any) error // of items other than profiles, see items.go
}

// library decodes into the structs of this package, and converts them to columns.
func library(name string, chunk func([]byte) (*Chunk, error), v1 func([]byte) (*Profile, error)) Library {
	converter := &Converter{threads: map[string]int32{}}
	return Library{
		Name: name,
		Chunk: func(payload []byte) (*profile.Chunk, error) {
			in, err := chunk(payload)
			if err != nil {
				return nil, err
			}
			return converter.Chunk(in), nil
		},
		Profile: func(payload []byte) (*profile.Profile, error) {
			in, err := v1(payload)
			if err != nil {
				return nil, err
			}
			return converter.Profile(in), nil
		},
	}
}

// All returns the libraries for profiles. Those that can reuse memory do, and none accepts invalid
// JSON except goccy.
func All() []Library {
	return []Library{TwoPass(), fresh("encoding/json", json.Unmarshal), pooled("goccy-pooled", goccy.Unmarshal), pooled("sonic-pooled", strictSonic)}
}

// OnePass returns encoding/json and the fastest general libraries, for items other than profiles.
// Sonic's "fastest" settings made no difference here.
func OnePass() []Library {
	return []Library{
		fresh("encoding/json", json.Unmarshal),
		fresh("goccy", goccy.Unmarshal),
		fresh("sonic", sonic.ConfigDefault.Unmarshal),
	}
}

// fresh decodes into new structs.
func fresh(name string, unmarshal func([]byte, any) error) Library {
	l := library(name,
		func(payload []byte) (*Chunk, error) { return decode[Chunk](payload, unmarshal) },
		func(payload []byte) (*Profile, error) { return decode[Profile](payload, unmarshal) })
	l.unmarshal = unmarshal
	return l
}

func decode[T any](payload []byte, unmarshal func([]byte, any) error) (*T, error) {
	value := new(T)
	return value, unmarshal(payload, value)
}

// pooled decodes into structs that keep the memory of their slices.
func pooled(name string, unmarshal func([]byte, any) error) Library {
	chunk, v1 := new(Chunk), new(Profile)
	return library(name,
		func(payload []byte) (*Chunk, error) {
			data, samples := emptyData(chunk.Profile.Data), emptied(chunk.Profile.Samples)
			*chunk = Chunk{}
			chunk.Profile.Data, chunk.Profile.Samples = data, samples
			return chunk, unmarshal(payload, chunk)
		},
		func(payload []byte) (*Profile, error) {
			data, samples := emptyData(v1.Profile.Data), emptied(v1.Profile.Samples)
			*v1 = Profile{}
			v1.Profile.Data, v1.Profile.Samples = data, samples
			return v1, unmarshal(payload, v1)
		})
}

// emptyData keeps the stacks, because decoders overwrite lists of numbers completely.
func emptyData(d Data) Data { return Data{Stacks: d.Stacks[:0], Frames: emptied(d.Frames)} }

// emptied returns a slice without elements. It clears the memory, because decoders leave absent
// fields unchanged.
func emptied[T any](s []T) []T {
	clear(s[:cap(s)])
	return s[:0]
}

var strict = sonic.Config{ValidateString: true}.Froze()

// strictSonic decodes without copying the payload. Like the product's decoder, it rejects control
// characters in text.
func strictSonic(payload []byte, value any) error {
	return strict.UnmarshalFromString(unsafe.String(unsafe.SliceData(payload), len(payload)), value)
}

// TwoPass decodes a profile like Sentry's Go service: a type that first looks at the version, then
// decodes the whole payload. With encoding/json, the text is checked three times, skipped once and
// decoded once.
func TwoPass() Library {
	return library("two-pass",
		func(payload []byte) (*Chunk, error) {
			versioned, err := decode[twoPass[Chunk]](payload, json.Unmarshal)
			return versioned.value, err
		},
		func(payload []byte) (*Profile, error) {
			versioned, err := decode[twoPass[Profile]](payload, json.Unmarshal)
			return versioned.value, err
		})
}

type twoPass[T any] struct{ value *T }

func (t *twoPass[T]) UnmarshalJSON(payload []byte) error {
	var head struct {
		Version  string `json:"version"`
		Platform string `json:"platform"`
	}
	if err := json.Unmarshal(payload, &head); err != nil {
		return err
	}
	t.value = new(T)
	return json.Unmarshal(payload, t.value)
}
