// SPDX-License-Identifier: Apache-2.0

// Package dialect recognizes the OTLP version of profiles and translates between versions.
//
// OTLP 1.10 renumbered the fields of Sample (opentelemetry-proto#724, November 2025):
//
//	number   OTLP 1.8, 1.9           OTLP 1.10 and later
//	  1      stack_index             stack_index
//	  2      values            ──▶   attribute_indices
//	  3      attribute_indices ──▶   link_index
//	  4      link_index        ──▶   values
//	  5      timestamps_unix_nano    timestamps_unix_nano
//
// OTLP 1.9 removed the comments of a profile and moved the fields behind them. OTLP 1.8 introduced
// the table of stacks, and one sample type for each profile.
//
// Encoded requests:
//
//	request.go     Decode: any version → current
//	recognize.go   the version, by the types of fields
//	renumber.go    1.8 and 1.9 ⇄ 1.10: the same bytes with other tags
//	stacks.go      1.7 → 1.10
//	references.go  Encode: current → 1.9; strings instead of references
//	wire.go        fields of protobuf messages
//
// [Current] is for decoded messages. A collector decodes a sample of OTLP 1.9 without an error if
// it has no attributes, or if its lists are not packed, but with each field in the wrong place.
//
// This package is the only place that knows about dialects. docs/dialects.md lists their producers,
// and the effects of the next breaking change.
package dialect

import (
	"fmt"
	"iter"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Error is the error for a message that cannot be translated.
type Error struct {
	Producer string
	Version  Version // unclear = unknown
	Reason   error   // why a known version cannot be translated
}

func (e *Error) Error() string {
	version, reason := "an unknown dialect of OTLP, older than 1.10", ""
	if e.Version != unclear {
		version = "OTLP " + string(e.Version)
	}
	if e.Reason != nil {
		reason = " and cannot be translated (" + e.Reason.Error() + ")"
	}
	return fmt.Sprintf("profiles of %s are in %s%s; update the producer to a version with OTLP 1.10 or later", e.Producer, version, reason)
}

func (e *Error) Unwrap() error { return e.Reason }

// Current returns a message in the current dialect: p itself or a translated copy. It does not
// change p. It translates a message only if all samples are valid in OTLP 1.9 and at least one
// sample is impossible in the current dialect.
//
// Current returns an [Error] if the message cannot be translated and no sample has a value or a
// timestamp, because it then contains no usable data. Other messages are returned unchanged.
func Current(p pprofile.Profiles) (current pprofile.Profiles, translated bool, err error) {
	tables := tablesOf(p)
	samples, impossible, empty := 0, 0, 0
	for s := range eachSample(p) {
		samples++
		if !tables.possible(sampleOf(s)) {
			impossible++
		}
		if s.Values().Len() == 0 && s.TimestampsUnixNano().Len() == 0 {
			empty++
		}
	}
	if impossible == 0 {
		return p, false, nil
	}
	old := 0
	for s := range eachSample(p) {
		if renumbered, ok := renumber(s); ok && tables.possible(renumbered) {
			old++
		}
	}
	switch {
	case old == samples:
		return translate(p), true, nil
	case empty == samples:
		return p, false, &Error{Producer: Producer(p)}
	}
	return p, false, nil
}

// sample is the content of a sample.
type sample struct {
	stack, link int32
	attributes  pcommon.Int32Slice
	values      pcommon.Int64Slice
	timestamps  int
}

func sampleOf(s pprofile.Sample) sample {
	return sample{
		stack: s.StackIndex(), link: s.LinkIndex(), attributes: s.AttributeIndices(), values: s.Values(),
		timestamps: s.TimestampsUnixNano().Len(),
	}
}

// renumber reads a sample of OTLP 1.9. It fails if a value was truncated to 32 bits, or if there
// are several links.
func renumber(s pprofile.Sample) (sample, bool) {
	r := sample{
		stack: s.StackIndex(), attributes: pcommon.NewInt32Slice(), values: pcommon.NewInt64Slice(),
		timestamps: s.TimestampsUnixNano().Len(),
	}
	for _, value := range s.AttributeIndices().All() {
		if value < 0 {
			return r, false
		}
		r.values.Append(int64(value))
	}
	if i := s.LinkIndex(); i != 0 {
		r.attributes.Append(i)
	}
	switch links := s.Values(); {
	case links.Len() > 1 || links.Len() == 1 && links.At(0) != int64(int32(links.At(0))):
		return r, false
	case links.Len() == 1:
		r.link = int32(links.At(0))
	}
	return r, true
}

// tables has the sizes of the tables that samples refer to.
type tables struct{ stacks, attributes, links int }

func tablesOf(p pprofile.Profiles) tables {
	d := p.Dictionary()
	return tables{d.StackTable().Len(), d.AttributeTable().Len(), d.LinkTable().Len()}
}

// possible reports whether a sample obeys the rules of the protocol: its references exist, no
// attribute occurs twice, and it has one value, or timestamps, or the same number of both.
func (t tables) possible(s sample) bool {
	exists := func(i int32, n int) bool { return i >= 0 && int(i) < max(n, 1) }
	if !exists(s.stack, t.stacks) || !exists(s.link, t.links) {
		return false
	}
	for j, i := range s.attributes.All() {
		if i == 0 || !exists(i, t.attributes) {
			return false
		}
		for k := range min(j, maxCompared) {
			if s.attributes.At(k) == i {
				return false
			}
		}
	}
	switch values := s.values.Len(); values {
	case 0:
		return s.timestamps > 0
	case 1:
		return s.timestamps <= 1
	default:
		return s.timestamps == values
	}
}

// maxCompared bounds the search for duplicates. Records have few attributes; a hostile record may
// have a million.
const maxCompared = 32

func translate(p pprofile.Profiles) pprofile.Profiles {
	out := pprofile.NewProfiles()
	p.CopyTo(out)
	for s := range eachSample(out) {
		r, _ := renumber(s)
		r.attributes.MoveTo(s.AttributeIndices())
		r.values.MoveTo(s.Values())
		s.SetLinkIndex(r.link)
	}
	return out
}

func eachSample(p pprofile.Profiles) iter.Seq[pprofile.Sample] {
	return func(yield func(pprofile.Sample) bool) {
		for _, resource := range p.ResourceProfiles().All() {
			for _, scope := range resource.ScopeProfiles().All() {
				for _, profile := range scope.Profiles().All() {
					for _, s := range profile.Samples().All() {
						if !yield(s) {
							return
						}
					}
				}
			}
		}
	}
}

// maxProducer bounds the text from a message that appears in logs.
const maxProducer = 100

// Producer returns the name and the version of the producer of a message, as stated by its first
// resource.
func Producer(p pprofile.Profiles) string {
	if p.ResourceProfiles().Len() == 0 {
		return unknownProducer
	}
	resource := p.ResourceProfiles().At(0)
	name, version := "", ""
	if resource.ScopeProfiles().Len() > 0 {
		scope := resource.ScopeProfiles().At(0).Scope()
		name, version = scope.Name(), scope.Version()
	}
	if name == "" {
		name, version = text(resource, semconv.TelemetrySDKName), text(resource, semconv.TelemetrySDKVersion)
	}
	if name == "" && usesEngineNames(p) {
		name = "async-profiler" // which does not state its name
	}
	if name == "" {
		return unknownProducer
	}
	if version == "" {
		version = "of an unknown version"
	}
	return clip(name) + " " + clip(version)
}

const unknownProducer = "a producer without a name"

func text(resource pprofile.ResourceProfiles, key string) string {
	value, ok := resource.Resource().Attributes().Get(key)
	if !ok {
		return ""
	}
	return value.AsString()
}

func clip(s string) string { return s[:min(len(s), maxProducer)] }

// usesEngineNames reports whether the first sample type is named after an engine of async-profiler.
func usesEngineNames(p pprofile.Profiles) bool {
	scopes := p.ResourceProfiles().At(0).ScopeProfiles()
	if scopes.Len() == 0 || scopes.At(0).Profiles().Len() == 0 {
		return false
	}
	name, _, _ := dictionary.NewView(p.Dictionary()).ValueType(scopes.At(0).Profiles().At(0).SampleType())
	return slices.Contains([]string{"itimer", "ctimer", "perf_events", "j9_wall"}, name)
}
