// SPDX-License-Identifier: Apache-2.0

package rival

import (
	"encoding/json"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
)

// Library decodes JSON into the structs of this package.
type Library struct {
	Name    string
	Chunk   func(payload []byte) (*Chunk, error)
	Profile func(payload []byte) (*Profile, error)

	unmarshal func([]byte, any) error // of items other than profiles, see items.go
}

func library(name string, unmarshal func([]byte, any) error) Library {
	return Library{
		Name:    name,
		Chunk:   func(payload []byte) (*Chunk, error) { return decode[Chunk](payload, unmarshal) },
		Profile: func(payload []byte) (*Profile, error) { return decode[Profile](payload, unmarshal) },

		unmarshal: unmarshal,
	}
}

func decode[T any](payload []byte, unmarshal func([]byte, any) error) (*T, error) {
	value := new(T)
	return value, unmarshal(payload, value)
}

// All returns all libraries.
func All() []Library { return append([]Library{TwoPass()}, OnePass()...) }

// OnePass returns encoding/json and the fastest general libraries. Sonic's "fastest" settings made no difference here.
func OnePass() []Library {
	return []Library{
		library("encoding/json", json.Unmarshal),
		library("goccy", goccy.Unmarshal),
		library("sonic", sonic.ConfigDefault.Unmarshal),
	}
}

// TwoPass decodes a profile like Sentry's Go service: a type that first looks at the version, then decodes the whole payload. With
// encoding/json, the text is checked three times, skipped once and decoded once.
func TwoPass() Library {
	return Library{
		Name: "two-pass",
		Chunk: func(payload []byte) (*Chunk, error) {
			versioned, err := decode[twoPass[Chunk]](payload, json.Unmarshal)
			return versioned.value, err
		},
		Profile: func(payload []byte) (*Profile, error) {
			versioned, err := decode[twoPass[Profile]](payload, json.Unmarshal)
			return versioned.value, err
		},
	}
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
