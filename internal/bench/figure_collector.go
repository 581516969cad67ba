package main

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// collector compares the receivers of the built collector, over HTTP with gzip and two clients: what its sentry receiver
// takes for a chunk, against what its otlp receiver takes for the same content, in the two forms it may come in: as this
// project emits it, and with one Sample for each observation. CPU time is that of the collector's process.
func (b *bench) collector() {
	const name = "collector: CPU against otlp"
	c, err := startCollector()
	if err != nil {
		printSkipped(name, err.Error())
		return
	}
	defer c.stop()
	for _, p := range []payload.Payload{
		payload.Python(payload.FiveMB), payload.Node(payload.FiveMB), payload.Python(payload.FiveMB / 10),
	} {
		results, err := c.race(b.rounds, p)
		if err != nil {
			printSkipped(name, err.Error())
			return
		}
		chunk, merged, single := results[0], results[1], results[2]
		perMillion := func(r measure.Result) float64 { return r.Median().Seconds() / float64(p.Samples) * 1e6 }
		note := fmt.Sprintf("CPU-s per million samples: %.2f, otlp %.2f, a sample each %.2f",
			perMillion(chunk), perMillion(merged), perMillion(single))
		label := fmt.Sprintf("%s %.1f MB", p.Name, p.MB())
		printRow(name+", merged samples", label, atMost(1.6, 1.2), chunk.Over(merged), note)
		printRow(name+", a sample each", label, atMost(1, 0), chunk.Over(single), "")
	}
}

// race sends the three kinds of request in turns.
func (c *collector) race(rounds int, p payload.Payload) ([]measure.Result, error) {
	out := decodeAndMap(p)
	merged, err := pprofileotlp.NewExportRequestFromProfiles(out).MarshalProto()
	must(err)
	spread, err := pprofileotlp.NewExportRequestFromProfiles(onePerObservation(out)).MarshalProto()
	must(err)
	requests := []request{
		{c.sentryURL, "application/x-sentry-envelope", payload.Zip(p.Envelope())},
		{c.otlpURL, "application/x-protobuf", payload.Zip(merged)},
		{c.otlpURL, "application/x-protobuf", payload.Zip(spread)},
	}
	results := make([]measure.Result, len(requests))
	times := max(2, 40*payload.FiveMB/p.Samples) // about half a CPU-second: the resolution is 10 ms
	for round := -1; round < rounds; round++ {
		for i, r := range requests {
			took, err := c.send(r, times)
			if err != nil {
				return nil, err
			}
			if round >= 0 { // the first one fills pools
				results[i].Rounds = append(results[i].Rounds, took/time.Duration(times))
			}
		}
	}
	return results, nil
}

// onePerObservation is the same profile with a Sample for each timestamp, in the order of time.
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
