// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Decoder decodes the payloads of profile items. It reuses its memory: a result is valid until the
// next use of the decoder and while the payload is unchanged. A decoder must not be used
// concurrently.
//
// A custom scanner decodes the arrays samples, stacks and frames, which make up most of a payload,
// into columns (decode_sampled.go), and also images and measurements. encoding/json decodes
// everything else field by field, so that a field of the wrong type does not affect others.
type Decoder struct {
	sampledDecoder
}

// Claim sets a function that the decoder calls before it allocates more memory, until its release.
// An error of the function ends decoding with ReasonTooMuchMemory.
func (d *Decoder) Claim(claim func(bytes int64) error) { d.claim = claim }

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// AcquireDecoder returns a decoder from the pool. Call Release when its result is no longer needed.
func AcquireDecoder() *Decoder { return decoders.Get().(*Decoder) }

// Release returns the decoder to the pool. Its results become invalid.
func (d *Decoder) Release() {
	d.reset(formatV1, nil)
	d.claim, d.used, d.claimed, d.noMemory = nil, 0, 0, nil
	if d.scratchBytes() <= sentry.MaxPooledScratch {
		decoders.Put(d)
	}
}

// Profile decodes the payload of a "profile" item (V1). The error is a *discard.Error.
func (d *Decoder) Profile(payload []byte) (*Profile, error) {
	d.reset(formatV1, payload)
	p, legacy := &Profile{}, &ProfileTransaction{}
	dialect, err := d.document(fields{
		"version":     (*text)(&p.Version),
		"event_id":    (*text)(&p.EventID),
		"profile_id":  (*text)(&p.EventID),
		"platform":    (*text)(&p.Platform),
		"timestamp":   &p.Timestamp,
		"release":     (*text)(&p.Release),
		"dist":        (*text)(&p.Dist),
		"environment": (*text)(&p.Environment),
		"device":      &p.Device,
		"os":          &p.OS,
		"runtime":     &p.Runtime,

		"transaction":  &p.Transaction,
		"transactions": &firstTransaction{&p.Transaction},

		// Fields of Android's legacy format.
		"device_manufacturer":    &p.Device.Manufacturer,
		"device_model":           &p.Device.Model,
		"device_locale":          &p.Device.Locale,
		"device_is_emulator":     &p.Device.IsEmulator,
		"device_os_name":         &p.OS.Name,
		"device_os_version":      &p.OS.Version,
		"device_os_build_number": &p.OS.BuildNumber,
		"architecture":           &p.Device.Architecture,
		"transaction_id":         (*text)(&legacy.ID),
		"transaction_name":       (*text)(&legacy.Name),
		"trace_id":               (*text)(&legacy.TraceID),
		"active_thread_id":       &legacy.ActiveThreadID,
	})
	switch {
	case err != nil:
		return nil, err
	case p.Version != "1" && (p.Platform == platformAndroid || dialect.sampledProfile != nil):
		d.legacyAndroid(p, legacy, dialect)
		return p, d.noMemory
	case p.Version != "1":
		return nil, discard.Errorf(discard.ReasonPlatformNotSupported, "profile of version %.20q, expected \"1\"", p.Version)
	}
	p.Sampled, p.DebugMeta, p.Measurements = d.resolve(), d.meta, d.series
	return p, p.usable(dialect)
}

// Chunk decodes the payload of a "profile_chunk" item (V2). The error is a *discard.Error.
func (d *Decoder) Chunk(payload []byte) (*Chunk, error) {
	d.reset(formatV2, payload)
	c, dialect, err := d.chunkDocument()
	switch {
	case err != nil:
		return nil, err
	case dialect.sampledProfile != nil: // regardless of the version
		d.androidChunk(c, dialect)
		return c, d.noMemory
	case c.Version != "2":
		return nil, discard.Errorf(discard.ReasonPlatformNotSupported, "profile chunk of version %.20q, expected \"2\"", c.Version)
	}
	c.Sampled, c.DebugMeta, c.Measurements = d.resolve(), d.meta, d.series
	return c, c.usable(dialect)
}

// platformAndroid is the platform of profiles that may contain a trace instead of samples.
const platformAndroid = "android"

func (d *sampledDecoder) chunkDocument() (c *Chunk, found dialect, err error) {
	c = &Chunk{}
	found, err = d.document(fields{
		"version":     (*text)(&c.Version),
		"profiler_id": (*text)(&c.ProfilerID),
		"chunk_id":    (*text)(&c.ChunkID),
		"platform":    (*text)(&c.Platform),
		"release":     (*text)(&c.Release),
		"dist":        (*text)(&c.Dist),
		"environment": (*text)(&c.Environment),
		"client_sdk":  &c.ClientSDK,
	})
	return c, found, err
}

// fields are the targets of the top-level fields that encoding/json decodes, by key.
type fields map[string]any

// dialect is the kind of payload according to its top-level keys.
type dialect struct {
	profile bool // "profile" is present: sampled data

	// JSON of members that only Android profiles have; nil if absent.
	sampledProfile     []byte // an ART trace in base64
	jsProfile          []byte // an object like "profile", which React Native sends in addition to the trace
	timestamp, buildID []byte // of chunks, and of the ProGuard mapping
}

// document walks the top level of a payload.
func (d *sampledDecoder) document(targets fields) (found dialect, err error) {
	if !d.Open('{') {
		return found, d.invalid()
	}
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			break
		}
		switch target, known := targets[string(key)]; {
		case string(key) == "profile":
			found.profile = d.profile() || found.profile
		case string(key) == "js_profile":
			found.jsProfile = d.Value()
		case string(key) == "debug_meta":
			d.meta = d.debugMeta()
		case string(key) == "measurements":
			d.series = d.measurements()
		case known:
			d.field(string(key), target)
		case string(key) == "sampled_profile":
			found.sampledProfile = d.notNull()
		case string(key) == "timestamp":
			found.timestamp = d.notNull()
		case string(key) == "build_id":
			found.buildID = d.notNull()
		default:
			d.Skip()
		}
	}
	if d.End(); d.Err != nil {
		return found, d.invalid()
	}
	return found, nil
}

// invalid returns the error of the scanner with Sentry's reason for profiles that are not JSON.
func (d *sampledDecoder) invalid() error {
	if d.Err.Reason == jsonscan.ReasonMalformed {
		return &discard.Error{Reason: discard.ReasonInvalidJSON, Detail: d.Err.Detail}
	}
	return d.Err
}

// notNull returns the next value, or nil for null.
func (d *sampledDecoder) notNull() []byte {
	value := d.Value()
	if d.Err != nil || jsonscan.IsNull(value) {
		return nil
	}
	return value
}

// field decodes the next value into target with encoding/json. A value of the wrong type is a flaw,
// not an error: the text is valid JSON, and encoding/json decodes as much as possible.
func (d *sampledDecoder) field(key string, target any) {
	value := d.Value()
	if d.Err != nil || jsonscan.IsNull(value) { // null means absent, and must not overwrite an alias of the field
		return
	}
	if flawed := json.Unmarshal(value, target); flawed != nil {
		d.out.addFlaw(key)
	}
}

// usable returns an error if there are no usable samples.
func (s *Sampled) usable(found dialect) error {
	switch {
	case s.Samples.Len() > 0:
		return nil
	case !found.profile:
		return discard.Errorf(discard.ReasonInvalidJSON, "no object \"profile\"")
	case len(s.Lost) > 0:
		return discard.Errorf(s.Lost[0].Reason, "none of the samples is usable (%d of them for this reason)", s.Lost[0].Count)
	}
	return discard.Errorf(discard.ReasonNotEnoughSamples, "no samples")
}
