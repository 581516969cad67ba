// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// The three shapes of a valid sample.
const (
	timesOnly = iota
	valueOnly
	both
	shapes
)

const (
	testStart  = 1_795_223_440_000_000_000
	testPeriod = 9_900_990
)

// randomProfiles makes a valid message. Small ranges on purpose: what steps make equal must meet.
func randomProfiles(r *rand.Rand) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	for range 1 + r.IntN(2) {
		resource := p.ResourceProfiles().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", fmt.Sprint("service ", r.IntN(2)))
		resource.Resource().Attributes().PutStr("process.owner", "alice")
		resource.Resource().Attributes().PutEmptySlice("args").AppendEmpty().SetStr("/home/alice/x.js")
		scope := resource.ScopeProfiles().AppendEmpty()
		for range 1 + r.IntN(2) {
			randomProfile(r, b, scope.Profiles().AppendEmpty())
		}
	}
	b.Finish()
	return p
}

func randomProfile(r *rand.Rand, b *dictionary.Builder, profile pprofile.Profile) {
	profile.SetTime(testStart)
	profile.SetDurationNano(2_000_000_000)
	profile.SetPeriod(testPeriod)
	if r.IntN(4) > 0 {
		profile.SetProfileID(pprofile.ProfileID{1, byte(r.IntN(255))})
	}
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetValueType(profile.PeriodType(), b.String([]string{"wall", "cpu"}[r.IntN(2)]), b.String("nanoseconds"))
	profile.SetOriginalPayloadFormat("sentry")
	profile.OriginalPayload().FromRaw([]byte("{}"))
	if r.IntN(2) == 0 {
		active := b.AttrInt(semconv.SentryActiveThreadID, int64(r.IntN(3)))
		dictionary.SetAttributes(profile.AttributeIndices(), active, b.AttrString(semconv.SentryMeasurements, "cpu"))
	}
	shape := r.IntN(shapes)
	seen := map[string]bool{}
	for range r.IntN(30) {
		stack, attributes := randomStack(r, b), randomThread(r, b)
		link := b.Link(pcommon.TraceID{byte(r.IntN(2))}, pcommon.SpanID{1})
		if id := fmt.Sprint(stack, attributes, link); !seen[id] {
			seen[id] = true
			s := profile.Samples().AppendEmpty()
			s.SetStackIndex(int32(stack))
			s.SetLinkIndex(int32(link))
			dictionary.SetAttributes(s.AttributeIndices(), attributes...)
			randomObservations(r, s, shape)
		}
	}
}

func randomObservations(r *rand.Rand, s pprofile.Sample, shape int) {
	n := 1
	if shape != valueOnly {
		n += r.IntN(5)
	}
	for range n {
		if shape != timesOnly {
			s.Values().Append(int64(r.IntN(5)))
		}
		if shape != valueOnly {
			s.TimestampsUnixNano().Append(testStart + uint64(r.IntN(100))*10_000_000)
		}
	}
}

func randomThread(r *rand.Rand, b *dictionary.Builder) []dictionary.AttributeIndex {
	var list []dictionary.AttributeIndex
	switch id := r.IntN(3); r.IntN(4) {
	case 0:
		list = append(list, b.AttrString(semconv.ThreadID, fmt.Sprint(id)))
	case 1, 2:
		list = append(list, b.AttrInt(semconv.ThreadID, int64(id)))
	}
	if r.IntN(3) > 0 {
		list = append(list, b.AttrString(semconv.ThreadName, []string{"main", "GC /home/alice", "pool-1"}[r.IntN(3)]))
	}
	return list
}

func randomStack(r *rand.Rand, b *dictionary.Builder) dictionary.StackIndex {
	var stack []dictionary.LocationIndex
	for range r.IntN(4) {
		var l dictionary.Location
		for range r.IntN(3) {
			l.Lines = append(l.Lines, dictionary.Line{Line: int64(r.IntN(2)), Function: b.Function(dictionary.Function{
				Name:     b.String([]string{"(idle)", "main", "render", "/Users/bob/a.php"}[r.IntN(4)]),
				Filename: b.String([]string{"", "/home/alice/app.py", "/home/carol/app.py", `C:\Users\dave\b.cs`}[r.IntN(4)]),
			})})
		}
		if r.IntN(2) == 0 {
			l.Attributes = append(l.Attributes, b.AttrBool(semconv.SentryFrameInApp, r.IntN(2) == 0))
		}
		if r.IntN(2) == 0 {
			l.Attributes = append(l.Attributes, b.AttrString(semconv.SentryFrameModule, []string{"django.db", "shop"}[r.IntN(2)]))
		}
		if r.IntN(4) == 0 {
			l.Address = uint64(1 + r.IntN(2))
			l.Mapping = b.Mapping(dictionary.Mapping{
				Filename: b.String("/home/alice/lib.so"), Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.gnu", "x")},
			})
		}
		stack = append(stack, b.Location(l))
	}
	return b.Stack(stack)
}

// observation is one in words.
type observation struct {
	service, sampleType string
	active              string   // the profile's thread, "-" for none
	stack               []string // leaf first: function at file, in braces what else the frame says
	attributes          map[string]string
	link                string
	time                uint64 // 0 = none
	value               int64
}

// spell lists the observations of a message.
func spell(p pprofile.Profiles) (all []observation) {
	v := dictionary.NewView(p.Dictionary())
	for _, resource := range p.ResourceProfiles().All() {
		service, _ := resource.Resource().Attributes().Get("service.name")
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				typ, unit, _ := v.ValueType(profile.SampleType())
				active := "-"
				if id, ok := v.Get(profile.AttributeIndices(), semconv.SentryActiveThreadID); ok {
					active = id.AsString()
				}
				for _, s := range profile.Samples().All() {
					o := observation{service: service.AsString(), sampleType: typ + "/" + unit, active: active}
					all = append(all, o.of(v, s)...)
				}
			}
		}
	}
	return all
}

func (o observation) of(v dictionary.View, s pprofile.Sample) (all []observation) {
	o.stack = spellStack(v, s.StackIndex())
	o.attributes = map[string]string{}
	list, _ := v.Attributes(s.AttributeIndices(), nil)
	for _, a := range list {
		o.attributes[a.Key] = a.Value.Type().String() + " " + a.Value.AsString()
	}
	trace, span, _ := v.Link(dictionary.LinkIndex(s.LinkIndex()))
	o.link = fmt.Sprint(trace, span)
	for i := range observations(s) {
		o.value = 1
		if s.Values().Len() > 0 {
			o.value = s.Values().At(i)
		}
		if s.TimestampsUnixNano().Len() > 0 {
			o.time = s.TimestampsUnixNano().At(i)
		}
		all = append(all, o)
	}
	return all
}

func spellStack(v dictionary.View, i int32) (frames []string) {
	stack, _ := v.Stack(dictionary.StackIndex(i), nil)
	var l dictionary.Location
	var m dictionary.Mapping
	for _, index := range stack {
		v.Location(index, &l)
		v.Mapping(l.Mapping, &m)
		var also []string
		for _, a := range l.Attributes {
			attribute, _ := v.Attribute(a)
			also = append(also, attribute.Key+"="+attribute.Value.AsString())
		}
		slices.Sort(also)
		also = append(also, fmt.Sprint(l.Address, " in ", v.Text(m.Filename)))
		lines := l.Lines
		if len(lines) == 0 {
			lines = []dictionary.Line{{}}
		}
		for _, line := range lines {
			f, _ := v.Function(line.Function)
			frames = append(frames, fmt.Sprintf("%s at %s:%d {%s}", v.Text(f.Name), v.Text(f.Filename), line.Line, strings.Join(also, " ")))
		}
	}
	return frames
}

// tally says what was observed, regardless of order: by identity and time, the values; those
// without time as their sum.
func tally(all []observation) map[string][]int64 {
	sums, tally := map[string]int64{}, map[string][]int64{}
	for _, o := range all {
		key := fmt.Sprint(o.service, o.sampleType, o.active, len(o.stack), o.stack, o.attributes, o.link, o.time)
		if o.time == 0 {
			sums[key] += o.value
			tally[key] = []int64{sums[key]}
		} else {
			tally[key] = append(tally[key], o.value)
		}
	}
	for _, values := range tally {
		slices.Sort(values)
	}
	return tally
}

// difference says where two tallies differ first, "" when nowhere.
func difference(want, got map[string][]int64) string {
	for key, values := range want {
		if !slices.Equal(values, got[key]) {
			return fmt.Sprintf("want %v, got %v of %s", values, got[key], key)
		}
	}
	for key, values := range got {
		if _, wanted := want[key]; !wanted {
			return fmt.Sprintf("not wanted: %v of %s", values, key)
		}
	}
	return ""
}

// seeds are fewer in the small size.
func seeds() uint64 {
	if !testsize.Full() {
		return 50
	}
	return 300
}
