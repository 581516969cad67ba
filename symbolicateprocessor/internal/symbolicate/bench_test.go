// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// opened has one opened script.
type opened struct {
	shop
	script *sourcemap.File
}

func (o opened) Script(ScriptID) (*sourcemap.File, symbols.Status) { return o.script, symbols.OK }

// BenchmarkCached compares the symbolication of a minute of a browser, with an opened source map,
// with the unmarshalling of its profile. All frames are of the application.
func BenchmarkCached(b *testing.B) {
	var asked []ScriptID
	script, _ := shop{b, &asked}.Script(ScriptID{DebugID: debugID})
	text := minifiedProfile(b, len(minified(b)))
	var unmarshal, write time.Duration
	for b.Loop() {
		start := time.Now()
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(text)
		require.NoError(b, err)
		middle := time.Now()
		counts := Profiles(p, opened{script: script})()
		unmarshal, write = unmarshal+middle.Sub(start), write+time.Since(middle)
		require.Equal(b, locationsOfBench, counts[symbols.OK])
	}
	b.ReportMetric(float64(write)/float64(unmarshal), "unmarshals")
	b.ReportMetric(float64(unmarshal.Microseconds())/float64(b.N), "unmarshal-µs")
	b.ReportMetric(float64(len(text)), "bytes")
}

const locationsOfBench = 400

// minifiedProfile returns the encoded profile of a minute: 6,000 observations of 300 stacks with 20
// frames.
func minifiedProfile(b *testing.B, columns int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	p := pprofile.NewProfiles()
	d := dictionary.NewBuilder(p.Dictionary())
	defer d.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("telemetry.sdk.language", "webjs")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), d.String("samples"), d.String("count"))
	list := pcommon.NewValueSlice()
	image := list.Slice().AppendEmpty().SetEmptyMap()
	image.PutStr("type", "sourcemap")
	image.PutStr("code_file", url)
	image.PutStr("debug_id", debugID)
	dictionary.SetAttributes(profile.AttributeIndices(), d.Attribute("sentry.debug_meta.images", dictionary.AnyValue(list), ""))
	var locations []dictionary.LocationIndex
	names := "abcdefghijklmnopqrstuvwxyz"
	for i := range locationsOfBench {
		name := string([]byte{names[i%26], names[i/26%26]})
		locations = append(locations, d.Location(dictionary.Location{
			Lines: []dictionary.Line{{
				Function: d.Function(dictionary.Function{Name: d.String(name), Filename: d.String(url)}), Line: 1, Column: 20 + int64(i*(columns-100)/locationsOfBench),
			}},
			Attributes: []dictionary.AttributeIndex{d.AttrString("profile.frame.type", "v8js"), d.AttrBool("sentry.frame.in_app", true)},
		}))
	}
	for i := range 300 {
		stack := make([]dictionary.LocationIndex, 20)
		for n := range stack {
			stack[n] = locations[(i*20+n*random.IntN(7))%locationsOfBench]
		}
		stack[0] = locations[i%locationsOfBench]
		if i < 100 {
			stack[1] = locations[300+i]
		}
		sample := profile.Samples().AppendEmpty()
		sample.SetStackIndex(int32(d.Stack(stack)))
		dictionary.SetAttributes(sample.AttributeIndices(), d.AttrString("thread.name", "main"))
		for n := range 20 {
			sample.TimestampsUnixNano().Append(uint64(1_700_000_000_000_000_000 + (i*20+n)*10_000_000))
		}
	}
	d.Finish()
	text, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(b, err)
	return text
}
