// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// Encode returns a request of the current dialect in another version, which is 1.9 or 1.10.
//
// Since 1.10, attributes of resources and scopes refer to strings of the dictionary. Encode
// resolves these references for 1.9, which does not have them, and with inline also for other
// versions, because some backends do not resolve them.
func Encode(request []byte, to Version, inline bool) ([]byte, error) {
	if to == V1_9 {
		request, inline = renumbered(request, nil, samplesTo1_9), true
	}
	if !inline {
		return request, nil
	}
	r := references{added: allowance.Of(maxGrowth*len(request) + minLimit)}
	for dictionary := range wire.Within(request, 2) {
		for text := range wire.Within(dictionary, 5) {
			r.texts = append(r.texts, text)
		}
	}
	out := r.rewrite(nil, request, inRequest)
	return out, r.err
}

// references replaces references with their strings.
type references struct {
	texts [][]byte
	added allowance.Allowance // bytes of strings
	err   error
}

// place describes a message type that can contain references.
type place struct {
	fields map[protowire.Number]*place
	key    protowire.Number // the field number of the reference, and of the string
	text   protowire.Number
}

var inRequest = func() *place {
	value := &place{key: 8, text: 1}
	attribute := &place{key: 3, text: 1, fields: map[protowire.Number]*place{2: value}}
	list := func(number protowire.Number, of *place) *place {
		return &place{fields: map[protowire.Number]*place{number: of}}
	}
	value.fields = map[protowire.Number]*place{5: list(1, value), 6: list(1, attribute)}
	profiles := &place{fields: map[protowire.Number]*place{1: list(3, attribute)}} // scope
	resource := &place{fields: map[protowire.Number]*place{1: list(1, attribute), 2: profiles}}
	return list(1, resource)
}()

// rewrite appends a message without its references. It recurses as deeply as the message is nested,
// which is safe because the collector's encoder has written it.
func (r *references) rewrite(to, message []byte, in *place) []byte {
	for f := range wire.Fields(message) {
		switch sub := in.fields[f.Number]; {
		case in.key != 0 && f.Is(in.key, protowire.VarintType):
			to = appendBytes(to, in.text, r.text(f.Varint))
		case sub != nil && f.Kind == protowire.BytesType:
			to = appendBytes(to, f.Number, r.rewrite(nil, f.Bytes, sub))
		default:
			to = appendField(to, f.Number, f)
		}
	}
	return to
}

func (r *references) text(i uint64) []byte {
	if i >= uint64(len(r.texts)) {
		r.err = errors.New("an attribute refers to a string that does not exist")
		return nil
	}
	if !r.added.Spend(len(r.texts[i])) {
		r.err = errTooLarge
		return nil
	}
	return r.texts[i]
}
