// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestHostileOTLP: attacks by OTLP messages on linking, transforms, the viewer and the translation
// to Sentry. After each attack, the viewer responds, and a valid profile reaches Sentry, the viewer
// and the backend.
func TestHostileOTLP(t *testing.T) {
	varies(t, "tables, indices, IDs, numbers and nesting of OTLP profiles and spans, with all outputs")
	for _, a := range otlpAttacks {
		t.Run(a.name, parallel(a.run))
	}
	for _, a := range spanAttacks {
		t.Run(a.name, parallel(a.run))
	}
}

// otlpAttack is an attack by an OTLP message.
type otlpAttack struct {
	name    string
	message func() []byte
	path    string // "" = the path for profiles
	status  int    // 0 = 200
	times   int    // number of requests; 0 = one
	memory  int    // MiB, maximum at the peak
}

func (a otlpAttack) run(t *testing.T) {
	server, backend := fakesentry.Start(t), harness.NewSink(t)
	backend.Check(harness.CheckOTLP)
	otlp, page := "http://"+harness.FreeAddress(t), harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{MemoryLimit: limitFor(a.memory), Config: otlpEverywhere(strings.TrimPrefix(otlp, "http://"), page, backend, server)})
	message := a.message()

	begin, status := time.Now(), 0
	for range cmp.Or(a.times, 1) {
		status = postOTLP(t, otlp+cmp.Or(a.path, harness.ProfilesPath), message)
		assert.Equal(t, cmp.Or(a.status, http.StatusOK), status)
	}
	took := time.Since(begin)
	askPage(t, c, page)

	require.Equal(t, http.StatusOK, postOTLP(t, otlp+harness.ProfilesPath, hostileProfile(func(d *dict, _ *profile) {
		d.StringTable[5] = "after_the_attack"
	})))
	require.Eventually(t, func() bool {
		for _, e := range server.Taken() {
			if len(e.Items) == 1 && bytes.Contains(e.Items[0].Payload, []byte(`"after_the_attack"`)) {
				return true
			}
		}
		return false
	}, 30*time.Second, 20*time.Millisecond, "a valid profile reaches Sentry")
	for _, e := range server.Taken() {
		for _, item := range e.Items {
			assert.True(t, json.Valid(item.Payload), "what goes to Sentry is JSON: %.200s", item.Payload)
		}
	}
	for _, message := range backend.DrainProfiles() {
		_, err := harness.DecodeProfiles(message)
		assert.NoError(t, err, "what goes to a backend")
	}
	reportAttack(t, c, len(message), status, took, a.memory)
}

// otlpEverywhere is a configuration with OTLP as input and all components that read profiles.
func otlpEverywhere(otlp, page string, backend *harness.Sink, server *fakesentry.Server) string {
	return fmt.Sprintf(`
receivers:
  otlp: {protocols: {http: {endpoint: %q}}}
  sentry: {endpoint: ENDPOINT}
processors:
  profile_transform: {link: {wait: 0s}}
  profile_transform/aggregate: {transforms: [{preset: pyroscope}]}
exporters:
  otlp_http: {endpoint: %q, sending_queue: {enabled: false}}
  profile_viewer: {endpoint: %q}
  sentry_envelope: {dsn: %q, sending_queue: {enabled: false}, retry_on_failure: {enabled: false}}
service:
  pipelines:
    profiles: {receivers: [otlp, sentry], processors: [profile_transform], exporters: [profile_viewer, sentry_envelope]}
    profiles/aggregate: {receivers: [otlp], processors: [profile_transform/aggregate], exporters: [otlp_http]}
    traces: {receivers: [otlp], processors: [profile_transform], exporters: [profile_viewer, sentry_envelope]}
`, otlp, backend.URL(), page, server.DSN())
}

func postOTLP(t *testing.T, url string, message []byte) int {
	client := http.Client{Timeout: harness.RequestTimeout}
	response, err := client.Post(url, "application/x-protobuf", bytes.NewReader(message))
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	if response.StatusCode != http.StatusOK {
		t.Logf("%d: %.300s", response.StatusCode, body)
	}
	return response.StatusCode
}

type (
	dict    = profilespb.ProfilesDictionary
	profile = profilespb.Profile
)

// Profiles with invalid or excessive content in the dictionary or the samples.
var otlpAttacks = []otlpAttack{
	profiles("a profile without a dictionary", memorySmall, func(d *dict, _ *profile) { *d = dict{} }),
	profiles("tables without the zero entry", memorySmall, func(d *dict, _ *profile) {
		d.StringTable, d.StackTable, d.LocationTable = d.StringTable[1:], d.StackTable[1:], d.LocationTable[1:]
		d.FunctionTable, d.LinkTable, d.MappingTable, d.AttributeTable = d.FunctionTable[1:], nil, nil, d.AttributeTable[1:]
	}),
	profiles("tables with nonzero entries at index 0", memorySmall, func(d *dict, _ *profile) {
		d.StringTable[0], d.StackTable[0], d.LinkTable[0] = "zero", d.StackTable[1], link(1)
	}),
	indices("2^31-1 as every index", math.MaxInt32),
	indices("-1 as every index", -1),
	indices("-2^31 as every index", math.MinInt32),
	profiles("a stack of a million frames", memoryLarge, func(d *dict, _ *profile) {
		d.StackTable[1].LocationIndices = repeated[int32](million, 1)
	}),
	profiles("1,000 stacks of 19,000 frames each", memoryLarge*3/2, func(d *dict, p *profile) {
		deep := repeated[int32](19_000, 1)
		for i := range 1000 {
			d.LocationTable = append(d.LocationTable, &profilespb.Location{Address: uint64(i + 1)})
			d.StackTable = append(d.StackTable, &profilespb.Stack{LocationIndices: append([]int32{int32(i + 2)}, deep...)})
			p.Samples = append(p.Samples, sampleAt(p, int32(i+2)))
		}
	}),
	profiles("a million stacks and one sample", memoryLarge, func(d *dict, _ *profile) {
		d.StackTable = append(d.StackTable, repeated(million, &profilespb.Stack{LocationIndices: []int32{1}})...)
	}),
	profiles("a million unused strings", memoryLarge, func(d *dict, _ *profile) {
		for i := range million {
			d.StringTable = append(d.StringTable, fmt.Sprint(i))
		}
	}),
	profiles("700,000 samples with one stack", memoryLarge*3/2, func(_ *dict, p *profile) {
		p.Samples = repeated(700_000, sampleAt(p, 1))
	}),
	profiles("a million timestamps in one sample", memoryLarge, func(_ *dict, p *profile) {
		p.Samples[0].TimestampsUnixNano = repeated(million, p.TimeUnixNano)
	}),
	profiles("200,000 threads", memoryLarge, func(d *dict, p *profile) {
		for i := range 200_000 {
			d.AttributeTable = append(d.AttributeTable, &profilespb.KeyValueAndUnit{KeyStrindex: 6, Value: textValue(fmt.Sprint(i))})
			s := sampleAt(p, 1)
			s.AttributeIndices = []int32{int32(i + 2)}
			p.Samples = append(p.Samples, s)
		}
	}),
	profiles("a sample with a million identical attributes", memoryLarge, func(_ *dict, p *profile) {
		p.Samples[0].AttributeIndices = repeated[int32](million, 1)
	}),
	profiles("a location with a million lines", memoryLarge, func(d *dict, _ *profile) {
		d.LocationTable[1].Lines = repeated(million, d.LocationTable[1].Lines[0])
	}),
	profiles("a function name of 18 MiB", memoryLarge, func(d *dict, _ *profile) { d.StringTable[5] = strings.Repeat("f", 18<<20) }),
	profiles("1,000 samples with a function name of 2 MiB", memoryLarge, func(d *dict, p *profile) {
		d.StringTable[5] = strings.Repeat("\x01", 2<<20)
		for range 1000 {
			p.Samples = append(p.Samples, sampleAt(p, 1))
		}
	}),
	profiles("200,000 links to spans that do not exist", memoryLarge, func(d *dict, p *profile) {
		for i := range 200_000 {
			d.LinkTable = append(d.LinkTable, link(i))
			s := sampleAt(p, 1)
			s.LinkIndex = int32(i + 1)
			p.Samples = append(p.Samples, s)
		}
	}),
	profiles("a link with a trace ID of three bytes", memorySmall, func(d *dict, p *profile) {
		d.LinkTable = append(d.LinkTable, &profilespb.Link{TraceId: []byte{1, 2, 3}, SpanId: []byte{1}})
		p.Samples[0].LinkIndex = 1
	}).answered(http.StatusBadRequest),
	profiles("extreme timestamps", memorySmall, func(_ *dict, p *profile) {
		p.TimeUnixNano, p.DurationNano, p.Period = math.MaxUint64, math.MaxUint64, math.MinInt64
		p.Samples[0].TimestampsUnixNano = []uint64{0, math.MaxUint64, 1, math.MaxInt64, math.MaxInt64 + 1}
	}),
	profiles("extreme values", memorySmall, func(_ *dict, p *profile) {
		p.Samples[0].Values = []int64{math.MaxInt64, math.MinInt64}
		p.Samples = append(p.Samples, &profilespb.Sample{StackIndex: 1, Values: []int64{math.MaxInt64}}, &profilespb.Sample{StackIndex: 1, Values: []int64{math.MaxInt64}})
	}),
	profiles("an attribute nested 10,000 levels deep", memoryLarge, func(d *dict, _ *profile) {
		d.AttributeTable[1].Value = deepValue(10_000)
	}).answered(http.StatusBadRequest), // since pdata v1.71.0
	profiles("an attribute nested 45 levels deep", memoryLarge, func(d *dict, _ *profile) {
		d.AttributeTable[1].Value = deepValue(45)
	}),
	profiles("an original payload that contains another item", memorySmall, func(_ *dict, p *profile) {
		p.OriginalPayloadFormat, p.OriginalPayload = "sentry", []byte("{}\n{\"type\":\"event\"}\n{}\n")
	}),
	profiles("a profile ID of 1 MiB", memorySmall, func(_ *dict, p *profile) { p.ProfileId = make([]byte, 1<<20) }).answered(http.StatusBadRequest),
	{name: "text that is not UTF-8", memory: memorySmall, message: func() []byte {
		valid := hostileProfile(func(d *dict, _ *profile) { d.StringTable[5] = "REPLACED" })
		return bytes.ReplaceAll(valid, []byte("REPLACED"), []byte("\xff\xfe\xc0\xaf\xed\xa0\x80\x00"))
	}},
	{name: "a million empty profiles", memory: memoryLarge, message: func() []byte {
		return exportOf(validDictionary(), repeated(million, &profile{}))
	}},
	{name: "5,000 profiles with a dictionary of 200,000 functions", memory: memoryLarge, message: func() []byte {
		d := validDictionary()
		for i := range 200_000 {
			d.StringTable = append(d.StringTable, fmt.Sprint("function ", i))
			d.FunctionTable = append(d.FunctionTable, &profilespb.Function{NameStrindex: int32(i + 7)})
			d.LocationTable = append(d.LocationTable, &profilespb.Location{Lines: []*profilespb.Line{{FunctionIndex: int32(i + 2)}}})
			d.StackTable = append(d.StackTable, &profilespb.Stack{LocationIndices: []int32{int32(i + 2)}})
		}
		all := make([]*profile, 5000)
		for i := range all {
			all[i] = &profile{Samples: []*profilespb.Sample{{StackIndex: int32(i + 2), AttributeIndices: []int32{1}, TimestampsUnixNano: []uint64{1}}}}
		}
		return exportOf(d, all)
	}},
	{name: "garbage", memory: memorySmall, status: http.StatusBadRequest, message: func() []byte { return bytes.Repeat([]byte("\xff\x01{"), million) }},
}
