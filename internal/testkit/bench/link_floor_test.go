// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// result is the output of linking the one profile of a message, as plain data.
type result struct {
	samples    []resultSample // the input's samples first, each with its first link
	attributes []int32        // of all samples, concatenated
	times      []uint64       // of all samples, concatenated
	links      []resultLink   // of the link table, without entry 0
}

type resultSample struct {
	stack, link       int32
	attributes, times int // numbers of them
}

type resultLink struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

func resultOf(p pprofile.Profiles) (r result) {
	for _, s := range samplesOf(p).All() {
		attributes, times := s.AttributeIndices().AsRaw(), s.TimestampsUnixNano().AsRaw()
		r.samples = append(r.samples, resultSample{s.StackIndex(), s.LinkIndex(), len(attributes), len(times)})
		r.attributes = append(r.attributes, attributes...)
		r.times = append(r.times, times...)
	}
	for i, link := range p.Dictionary().LinkTable().All() {
		if i > 0 {
			r.links = append(r.links, resultLink{link.TraceID(), link.SpanID()})
		}
	}
	return r
}

// make changes the input message to the result with the minimum number of calls.
func (r result) make(p pprofile.Profiles) {
	table := p.Dictionary().LinkTable()
	table.EnsureCapacity(1 + len(r.links))
	if table.Len() == 0 {
		table.AppendEmpty()
	}
	for _, link := range r.links {
		entry := table.AppendEmpty()
		entry.SetTraceID(link.trace)
		entry.SetSpanID(link.span)
	}
	samples := samplesOf(p)
	came := samples.Len()
	samples.EnsureCapacity(len(r.samples))
	attributes, times := r.attributes, r.times
	for i, to := range r.samples {
		var sample pprofile.Sample
		if i < came {
			sample = samples.At(i)
		} else {
			sample = samples.AppendEmpty()
			sample.SetStackIndex(to.stack)
			sample.AttributeIndices().FromRaw(attributes[:to.attributes])
		}
		sample.SetLinkIndex(to.link)
		sample.TimestampsUnixNano().FromRaw(times[:to.times])
		attributes, times = attributes[to.attributes:], times[to.times:]
	}
}

func samplesOf(p pprofile.Profiles) pprofile.SampleSlice {
	return p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples()
}
