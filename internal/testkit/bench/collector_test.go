// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

const receiversConfig = `
extensions:
  sentry_tee:
    upstream: %s
receivers:
  sentry:
    endpoint: %s
  sentry/tee:
    endpoint: %s
    middlewares: [{id: sentry_tee}]
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  nop:
service:
  extensions: [sentry_tee]
  telemetry:
    metrics:
      level: none
    logs:
      level: error
  pipelines:
    profiles: {receivers: [sentry, sentry/tee, otlp], exporters: [nop]}
    traces: {receivers: [sentry, sentry/tee], exporters: [nop]}
    logs: {receivers: [sentry, sentry/tee], exporters: [nop]}
`

const (
	envelopePath = "/api/4507/envelope/?sentry_key=8f3d1c0a9b7e4d52a1c6f0e3b2d49871"
	profilesPath = "/v1development/profiles"
)

// receivers is a collector with two sentry receivers, one of them with a tee, an otlp receiver, and
// an exporter that drops all data.
type receivers struct {
	*collector
	sentryURL, otlpURL string
}

func startReceivers(upstream string) (*receivers, error) {
	c, err := startCollector(3, func(listen []string) string {
		return fmt.Sprintf(receiversConfig, upstream, listen[0], listen[1], listen[2])
	})
	if err != nil {
		return nil, err
	}
	c.teeURL = "http://" + c.listen[1] + envelopePath
	return &receivers{c, "http://" + c.listen[0] + envelopePath, "http://" + c.listen[2] + profilesPath}, nil
}

// BenchmarkCollector compares the CPU time of the built collector for a chunk at its sentry
// receiver and for the same content at its otlp receiver, over HTTP with gzip and two clients. The
// OTLP content has two forms: this project's output, and one Sample per observation. "unread" is
// the chunk as an item of an unknown type: the cost of HTTP and of inflating Sentry's JSON.
func BenchmarkCollector(b *testing.B) {
	c, err := startReceivers("http://127.0.0.1:1")
	if err != nil {
		b.Skip(err)
	}
	defer c.stop()
	sources := payload.Typical(typical)[:2]
	small := payload.Typical(typical / 10)[0]
	small.Name += "-0.5MB"
	onEach(b, append(sources, small), func(b *testing.B, p payload.Payload) {
		out := decodeAndMap(p)
		merged, err := pprofileotlp.NewExportRequestFromProfiles(out).MarshalProto()
		must(err)
		spread, err := pprofileotlp.NewExportRequestFromProfiles(onePerObservation(out)).MarshalProto()
		must(err)
		took, err := c.race(b, max(2, 40*typical/p.Samples), // about half a CPU-second, because the resolution is 10 ms
			request{c.sentryURL, "application/x-sentry-envelope", payload.Zip(p.Envelope())},
			request{c.sentryURL, "application/x-sentry-envelope", payload.Zip(ofUnknownType(p.Envelope()))},
			request{c.otlpURL, "application/x-protobuf", payload.Zip(merged)},
			request{c.otlpURL, "application/x-protobuf", payload.Zip(spread)})
		must(err)
		report(b, "sentry÷otlp", took[0], took[2])
		report(b, "unread÷otlp", took[1], took[2])
		report(b, "sentry÷otlp-spread", took[0], took[3])
	})
}

// ofUnknownType returns an envelope whose item the receiver inflates but does not decode.
func ofUnknownType(envelope []byte) []byte {
	return bytes.Replace(envelope, []byte(`"profile_chunk"`), []byte(`"profile_other"`), 1)
}

// race sends the requests in turn, and returns the CPU time of the collector for each kind.
func (c *collector) race(b *testing.B, times int, requests ...request) ([]time.Duration, error) {
	took := make([]time.Duration, len(requests))
	for _, r := range requests { // fills the pools
		if _, err := c.send(r, times); err != nil {
			return nil, err
		}
	}
	for b.Loop() {
		for i, r := range requests {
			cpu, err := c.send(r, times)
			if err != nil {
				return nil, err
			}
			took[i] += max(cpu, tick) // a short run may take less
		}
	}
	return took, nil
}

// onePerObservation returns the profile with one Sample per timestamp, sorted by time.
func onePerObservation(in pprofile.Profiles) pprofile.Profiles {
	out := pprofile.NewProfiles()
	in.CopyTo(out)
	profile := out.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	type observation struct {
		time   uint64
		sample pprofile.Sample
	}
	var all []observation
	for _, sample := range in.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
		for _, t := range sample.TimestampsUnixNano().All() {
			all = append(all, observation{t, sample})
		}
	}
	slices.SortStableFunc(all, func(a, b observation) int { return int(int64(a.time) - int64(b.time)) })
	samples := pprofile.NewSampleSlice()
	samples.EnsureCapacity(len(all))
	for _, o := range all {
		sample := samples.AppendEmpty()
		sample.SetStackIndex(o.sample.StackIndex())
		o.sample.AttributeIndices().CopyTo(sample.AttributeIndices())
		sample.TimestampsUnixNano().FromRaw([]uint64{o.time})
	}
	samples.CopyTo(profile.Samples())
	return out
}

// request is one kind of request.
type request struct {
	url, contentType string
	body             []byte
}

func (r request) reader() *bytes.Reader { return bytes.NewReader(r.body) }
