// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Profiles of Android have a trace of its runtime in place of samples, in base64 (ART) or after the
// JSON (Perfetto). The trace is not decoded. The measurements are, and so are the samples of
// JavaScript that React Native sends beside the trace ("js_profile").
// https://develop.sentry.dev/sdk/telemetry/profiles/

// legacyAndroid converts a legacy profile to the V1 profile of its JavaScript. Without JavaScript
// only measurements are usable, and the error is a *discard.Error.
func (d *Decoder) legacyAndroid(p *Profile, legacy *ProfileTransaction, found dialect) error {
	p.Undecoded = discard.Errorf(discard.ReasonUnsupportedFormat, "android trace under item type profile (version %.20q)", p.Version)
	if p.Transaction == nil && *legacy != (ProfileTransaction{}) {
		p.Transaction = legacy
	}
	p.Measurements, p.DebugMeta = d.series, sourceMaps(d.meta)
	if p.Sampled = d.javaScript(found); p.Samples.Len() == 0 {
		return p.Undecoded
	}
	p.Version, p.Platform = "1", "javascript"
	if p.Transaction != nil && len(p.Threads) == 1 { // the payload names the active thread among those of the trace
		p.Transaction.ActiveThreadID = jsonscan.Decimal{Text: p.Threads[0].ID}
	}
	return nil
}

// androidChunk is legacyAndroid for chunks.
func (d *Decoder) androidChunk(c *Chunk, found dialect) error {
	c.Undecoded = discard.Errorf(discard.ReasonUnsupportedFormat, "android trace under item type profile_chunk (version %.20q)", c.Version)
	c.Measurements, c.DebugMeta = d.series, sourceMaps(d.meta)
	if c.Sampled = d.javaScript(found); c.Samples.Len() == 0 {
		return c.Undecoded
	}
	c.Version, c.Platform = "2", "javascript"
	return nil
}

// Perfetto decodes the JSON before the Perfetto trace of a chunk. Such a chunk has no samples, so
// the error is a *discard.Error.
func (d *Decoder) Perfetto(meta []byte) (*Chunk, error) {
	c, err := d.Chunk(meta)
	if c != nil {
		c.Undecoded = discard.Errorf(discard.ReasonUnsupportedFormat, "a Perfetto trace, expected JSON")
		err = c.Undecoded
	}
	return c, err
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
	return d.resolve()
}

// sourceMaps returns the images of JavaScript.
func sourceMaps(meta DebugMeta) DebugMeta {
	meta.Images = slices.DeleteFunc(meta.Images, func(i Image) bool { return i.Type != "sourcemap" })
	return meta
}
