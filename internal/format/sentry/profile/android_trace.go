// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Android profiles contain a trace instead of samples: a base64-encoded trace of the Android
// runtime (ART), or a Perfetto trace after the JSON. React Native also sends JavaScript samples
// ("js_profile"). https://develop.sentry.dev/sdk/telemetry/profiles/

// Android is the part of Android profiles that replaces samples. Sampled contains React Native's
// JavaScript samples.
type Android struct {
	MethodTrace   []byte // of ART
	PerfettoTrace []byte // part of the payload

	Timestamp jsonscan.Timestamp // of a chunk: start of its trace
	Unusable  *discard.Error     // the reason if there is no trace
}

// legacyAndroid completes a legacy profile.
func (d *Decoder) legacyAndroid(p *Profile, legacy *ProfileTransaction, found dialect) {
	p.Android = d.android(found)
	p.Version = "1"
	if p.Transaction == nil && *legacy != (ProfileTransaction{}) {
		p.Transaction = legacy
	}
	p.Measurements, p.DebugMeta = d.series, withMapping(d.meta, found)
	p.Sampled = d.javaScript(found)
}

// androidChunk completes a chunk.
func (d *Decoder) androidChunk(c *Chunk, found dialect) {
	c.Android = d.android(found)
	c.Version = "2"
	c.Measurements, c.DebugMeta = d.series, withMapping(d.meta, found)
	c.Sampled = d.javaScript(found)
}

// Perfetto decodes a chunk whose JSON is followed by a Perfetto trace. The error is a
// *discard.Error.
func (d *Decoder) Perfetto(meta, trace []byte) (*Chunk, error) {
	d.reset(formatV2, meta)
	c, found, err := d.chunkDocument()
	if err != nil {
		return nil, err
	}
	d.androidChunk(c, found)
	c.Android.PerfettoTrace, c.Android.MethodTrace, c.Android.Unusable = trace, nil, nil
	return c, d.noMemory
}

func (d *Decoder) android(found dialect) *Android {
	a := &Android{}
	if len(found.timestamp) > 0 && json.Unmarshal(found.timestamp, &a.Timestamp) != nil {
		d.out.addFlaw("timestamp")
	}
	if a.MethodTrace, a.Unusable = decodeBase64(found.sampledProfile); a.Unusable != nil {
		a.MethodTrace = nil
	}
	return a
}

// decodeBase64 decodes a JSON string. Like Sentry's ingest, it accepts only base64 without padding
// and line breaks.
func decodeBase64(value []byte) ([]byte, *discard.Error) {
	text := bytes.Trim(value, `"`)
	if bytes.IndexByte(text, '\\') >= 0 { // of "/", and of line breaks
		var unescaped string
		if json.Unmarshal(value, &unescaped) == nil {
			text = []byte(unescaped)
		}
	}
	text = bytes.TrimRight(text, "=\r\n")
	decoded := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, err := base64.RawStdEncoding.Decode(decoded, text)
	if err != nil {
		return nil, discard.Errorf(discard.ReasonInvalidBase64, "sampled_profile: %s", err)
	}
	return decoded[:n], nil
}

// javaScript decodes the samples of "js_profile".
func (d *Decoder) javaScript(found dialect) Sampled {
	flaws := d.out.Flaws
	series, meta := d.series, d.meta
	d.reset(d.format, found.jsProfile)
	d.out.Flaws, d.series, d.meta = flaws, series, meta
	if len(found.jsProfile) > 0 {
		d.profile()
	}
	if d.noMemory != nil {
		return Sampled{}
	}
	return d.resolve()
}

// platformJavaScript is the platform of the samples that accompany an Android trace.
const platformJavaScript = "javascript"

// JavaScript returns the JavaScript part of the profile.
func (p *Profile) JavaScript() *Profile {
	js := *p
	js.Platform, js.Android, js.DebugMeta = platformJavaScript, nil, sourceMaps(p.DebugMeta)
	if p.Transaction != nil && len(p.Threads) == 1 { // the active thread in the payload is one of the trace
		transaction := *p.Transaction
		transaction.ActiveThreadID = jsonscan.Decimal{Text: p.Threads[0].ID}
		js.Transaction = &transaction
	}
	return &js
}

// JavaScript returns the JavaScript part of the chunk.
func (c *Chunk) JavaScript() *Chunk {
	js := *c
	js.Platform, js.Android, js.DebugMeta = platformJavaScript, nil, sourceMaps(c.DebugMeta)
	return &js
}

// sourceMaps returns the JavaScript images.
func sourceMaps(meta DebugMeta) DebugMeta {
	return DebugMeta{Images: slices.DeleteFunc(slices.Clone(meta.Images), func(i Image) bool { return !i.isSourceMap() })}
}

// WithoutSourceMaps returns the images that are not JavaScript.
func (m DebugMeta) WithoutSourceMaps() DebugMeta {
	return DebugMeta{Images: slices.DeleteFunc(slices.Clone(m.Images), func(i Image) bool { return i.isSourceMap() })}
}

func (i *Image) isSourceMap() bool { return i.Type == "sourcemap" }

// withMapping adds the ProGuard mapping, which older SDKs state only as "build_id".
func withMapping(meta DebugMeta, found dialect) DebugMeta {
	if len(found.buildID) == 0 || len(meta.Images) > 0 {
		return meta
	}
	if id, ok := jsonscan.StringOrNumber(found.buildID); ok && id != "" {
		meta.Images = []Image{{Type: "proguard", UUID: id}}
	}
	return meta
}
