// SPDX-License-Identifier: Apache-2.0

package discard

import (
	"fmt"
	"strings"
)

// Reason is the stable name of a reason for dropping data: a metric attribute or a word in a log,
// never a sentence. If Sentry's ingest has a name for the case, that name is used
// (relay-profiling/src/outcomes.rs).
type Reason string

// Reasons for which Sentry's ingest discards a profile. The names are Sentry's.
const (
	ReasonInvalidJSON           Reason = "profiling_invalid_json"
	ReasonExceedSizeLimit       Reason = "profiling_exceed_size_limit"
	ReasonInvalidMetadata       Reason = "profiling_invalid_profile_metadata"
	ReasonInvalidTransaction    Reason = "profiling_invalid_transaction_metadata"
	ReasonInvalidProfileType    Reason = "profiling_invalid_profile_type"
	ReasonMalformedSamples      Reason = "profiling_malformed_samples"
	ReasonMalformedStacks       Reason = "profiling_malformed_stacks"
	ReasonNoTransaction         Reason = "profiling_no_transaction_associated"
	ReasonNotEnoughSamples      Reason = "profiling_not_enough_samples"
	ReasonPlatformNotSupported  Reason = "profiling_platform_not_supported"
	ReasonTooManyProfiles       Reason = "profiling_too_many_profiles"
	ReasonDurationTooLong       Reason = "profiling_duration_is_too_long"
	ReasonInvalidBase64         Reason = "profiling_invalid_base64_value"
	ReasonInvalidSampledProfile Reason = "profiling_invalid_sampled_profile"
)

// Our own reasons, for cases that Sentry's ingest does not have.
const (
	// ReasonTooDeep: JSON nested deeper than MaxJSONDepth.
	ReasonTooDeep Reason = "json_too_deep"
	// ReasonTooManyFrames: more than MaxFrames distinct frames.
	ReasonTooManyFrames Reason = "too_many_frames"
	// ReasonTooManyImages: more than MaxImages debug images.
	ReasonTooManyImages Reason = "too_many_images"
	// ReasonTooManyMeasurements: more than MaxMeasurements series, or MaxMeasurementValues points
	// in them.
	ReasonTooManyMeasurements Reason = "too_many_measurements"
	// ReasonTooMuchMemory: an item that needs more memory than a request may use.
	ReasonTooMuchMemory Reason = "too_much_memory"
	// ReasonTimeOutOfRange: a sample whose time is before 1970 or does not fit into 64 bits as
	// nanoseconds.
	ReasonTimeOutOfRange Reason = "sample_time_out_of_range"
)

// Error is the error of an item without usable data. Other items of the envelope are not affected.
type Error struct {
	Reason Reason
	Detail string // what was expected, where, with the number; no payload text
}

func (d *Error) Error() string { return fmt.Sprintf("%s: %s", d.Reason, d.Detail) }

// Errorf returns an Error with a formatted detail.
func Errorf(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Flaw counts the values of a field that did not have the published type and were coerced or
// dropped, or that have no place in OTLP.
type Flaw struct {
	Field string
	Count int
	Keys  string // of the values without a place, separated by commas; text of the sender, for people
}

// Loss counts the samples, spans, log records or other elements of an item that were dropped for
// one reason.
type Loss struct {
	Reason Reason
	Count  int
}

// Tally counts the unusable parts of an item or a message.
type Tally struct {
	Lost  []Loss
	Flaws []Flaw
}

// Lose counts dropped elements, if there are any.
func (t *Tally) Lose(reason Reason, count int) {
	if count > 0 {
		t.Lost = AddLoss(t.Lost, reason, count)
	}
}

// Flaw counts flaws of a field, if there are any.
func (t *Tally) Flaw(field string, count int) {
	if count > 0 {
		t.Flaws = AddFlaw(t.Flaws, field, count)
	}
}

// AddLoss counts losses of a reason.
func AddLoss(lost []Loss, reason Reason, count int) []Loss {
	for i := range lost {
		if lost[i].Reason == reason {
			lost[i].Count += count
			return lost
		}
	}
	return append(lost, Loss{Reason: reason, Count: count})
}

// AddFlaw counts flaws of a field.
func AddFlaw(flaws []Flaw, field string, count int) []Flaw {
	for i := range flaws {
		if flaws[i].Field == field {
			flaws[i].Count += count
			return flaws
		}
	}
	return append(flaws, Flaw{Field: field, Count: count})
}

// AddKey counts a flaw of a field and lists the key at which it occurred.
func AddKey(flaws []Flaw, field, key string) []Flaw {
	flaws = AddFlaw(flaws, field, 1)
	for i := range flaws {
		if f := &flaws[i]; f.Field == field && len(f.Keys) < maxKeys && !hasKey(f.Keys, key) {
			if f.Keys != "" {
				f.Keys += ", "
			}
			f.Keys += key
		}
	}
	return flaws
}

// hasKey allocates nothing: a payload may repeat a key a million times.
func hasKey(keys, key string) bool {
	for more := true; more; {
		var one string
		if one, keys, more = strings.Cut(keys, ", "); one == key {
			return true
		}
	}
	return false
}

// maxKeys bounds the text of the keys of a flaw, except for the last one.
const maxKeys = 512
