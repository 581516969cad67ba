// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// Decode returns an encoded request in the current dialect, and its original version. It returns
// the request itself if no translation is necessary, and does not change it.
//
// Decode returns an [Error] if it knows the version and cannot translate the request. It returns a
// request of an unknown version unchanged, so that the receiver rejects it.
func Decode(request []byte) (current []byte, from Version, err error) {
	return DecodeWithin(request, func(int) error { return nil })
}

// DecodeWithin is Decode with a limit of memory: reserve is called before memory is used for a
// translation, and for the receiver of the result, which may need far more than the request. Its
// error is returned.
func DecodeWithin(request []byte, reserve func(bytes int) error) (current []byte, from Version, err error) {
	switch from = recognize(request); from {
	case V1_10:
		return request, from, nil
	case V1_9:
		current = renumbered(request, nil, samplesOf1_9)
	case V1_8:
		current = renumbered(request, profilesOf1_8, samplesOf1_9)
	case V1_7:
		if err = reserve(maxGrowth*len(request) + minLimit); err != nil {
			return nil, from, err
		}
		if current, err = fromRanges(request, maxGrowth*len(request)+minLimit); err != nil {
			return nil, from, &Error{Producer: producerOf(request), Version: from, Reason: err}
		}
	case unclear:
		return decodeUnclear(request, reserve)
	default:
		return nil, from, &Error{Producer: producerOf(request), Version: from}
	}
	if err := verify(current, reserve); err != nil {
		return nil, from, &Error{Producer: producerOf(request), Version: from, Reason: err}
	}
	return current, from, nil
}

// A translated request has at most maxGrowth times the size of the request, plus minLimit bytes.
const (
	maxGrowth = 4 // several sample types become several profiles
	minLimit  = 1 << 20
)

// decodeUnclear distinguishes 1.9 and 1.10 by the content of samples.
func decodeUnclear(request []byte, reserve func(int) error) ([]byte, Version, error) {
	p, err := decodeReserved(request, reserve)
	if errors.Is(err, otlpsize.ErrLimit) {
		return nil, unclear, fmt.Errorf("profiles of %s: %w", producerOf(request), err)
	}
	if errors.As(err, new(*reserveError)) {
		return nil, unclear, err
	}
	if err != nil {
		return request, V1_10, nil
	}
	_, translated, err := Current(p)
	if err != nil || !translated {
		return request, V1_10, err
	}
	return renumbered(request, nil, samplesOf1_9), V1_9, nil
}

// decode decodes a request that is not too large.
func decode(request []byte) (p pprofile.Profiles, err error) {
	if err := otlpsize.Profiles.Check(request); err != nil {
		return p, err
	}
	return new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(request)
}

// reserveError is the error of a caller that limits memory.
type reserveError struct{ error }

func (e *reserveError) Unwrap() error { return e.error }

// decodeReserved decodes a request that the receiver will decode again.
func decodeReserved(request []byte, reserve func(int) error) (p pprofile.Profiles, err error) {
	memory, err := otlpsize.Profiles.Estimate(request, otlpsize.Max)
	if err != nil {
		return p, err
	}
	if err := reserve(memory); err != nil {
		return p, &reserveError{err}
	}
	return decode(request)
}

// verify checks that a translated request is valid. If it is not, the version was recognized
// incorrectly.
func verify(request []byte, reserve func(int) error) error {
	p, err := decodeReserved(request, reserve)
	if err != nil {
		return err
	}
	tables := tablesOf(p)
	for s := range eachSample(p) {
		if !tables.possible(sampleOf(s)) {
			return fmt.Errorf("a sample has %d values, %d times and the stack %d of %d", s.Values().Len(), s.TimestampsUnixNano().Len(), s.StackIndex(), tables.stacks)
		}
	}
	return nil
}

// producerOf returns the producer of a request that cannot be decoded. Resources and scopes are
// the same in all versions.
func producerOf(request []byte) string {
	for resource := range wire.Within(request, 1) {
		var head []byte
		for f := range wire.Fields(resource) {
			if f.Number == 1 {
				head = appendField(head, 1, f)
			}
		}
		for scope := range wire.Within(resource, 2) {
			for f := range wire.Fields(scope) {
				if f.Number == 1 {
					head = appendBytes(head, 2, appendField(nil, 1, f))
				}
			}
			break
		}
		p, err := decode(appendBytes(nil, 1, head))
		if err != nil {
			break
		}
		return Producer(p)
	}
	return unknownProducer
}
