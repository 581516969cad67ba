// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// harness is a processor in both pipelines, and what comes out of them.
type harness struct {
	t        *testing.T
	profiles xprocessor.Profiles
	traces   processor.Traces
	sink     *profilesSink
	passed   *consumertest.TracesSink
	metrics  *componenttest.Telemetry
	logs     *observer.ObservedLogs
	store    *memoryStorage
}

// start runs the processor with a configuration, in YAML, until the end of the test.
func start(t *testing.T, config string) *harness { return startWith(t, config, newMemoryStorage()) }

func startWith(t *testing.T, config string, store *memoryStorage) *harness {
	t.Helper()
	cfg, err := load(t, config)
	require.NoError(t, err)
	core, logs := observer.New(zapcore.InfoLevel)
	h := &harness{
		t: t, sink: &profilesSink{}, passed: &consumertest.TracesSink{},
		metrics: componenttest.NewTelemetry(), logs: logs, store: store,
	}
	set := h.settings()
	set.Logger = zap.New(core)
	h.profiles, err = createProfiles(t.Context(), set, cfg, h.sink)
	require.NoError(t, err)
	h.traces, err = NewFactory().CreateTraces(t.Context(), set, cfg, h.passed)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.metrics.Shutdown(context.Background())) })
	for _, c := range []component.Component{h.profiles, h.traces} {
		require.NoError(t, c.Start(t.Context(), h.host()))
		t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	}
	return h
}

func (h *harness) settings() processor.Settings {
	set := processortest.NewNopSettings(componentType)
	set.TelemetrySettings = h.metrics.NewTelemetrySettings()
	return set
}

func (h *harness) host() component.Host {
	return host{componenttest.NewNopHost(), map[component.ID]component.Component{component.MustNewID("memory"): h.store}}
}

type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

// counts gives the data points of one of the processor's metrics, of a histogram the numbers of its
// values.
func (h *harness) counts(name string) map[string]int64 {
	counts := map[string]int64{}
	metric, err := h.metrics.GetMetric("otelcol_processor_profile_transform_" + name)
	if err != nil {
		return counts
	}
	switch data := metric.Data.(type) {
	case metricdata.Sum[int64]:
		for _, point := range data.DataPoints {
			counts[attributeText(point.Attributes)] = point.Value
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			counts[attributeText(point.Attributes)] = int64(point.Count)
		}
	}
	return counts
}

// balanced: as many profiles came as went or wait, where messages have one and transforms leave it
// at that.
func (h *harness) balanced() {
	h.t.Helper()
	came := h.counts("incoming_profiles")[""] + h.counts("restored_profiles")[""]
	for _, went := range h.counts("outgoing_profiles") {
		came -= went
	}
	assert.Equal(h.t, h.counts("held_messages")[""], came)
}

func attributeText(set attribute.Set) string {
	var all []string
	for _, a := range set.ToSlice() {
		all = append(all, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	return strings.Join(all, " ")
}

// profilesSink keeps what it is given, or refuses it.
type profilesSink struct {
	consumertest.ProfilesSink
	mu        sync.Mutex
	contexts  []context.Context
	refuse    error
	refuses   func(pprofile.Profiles) bool // some messages, with errRefused
	refusals  int                          // so far
	permanent bool                         // those are refused for good
	spoils    bool                         // what it is given
	full      chan struct{}                // nil = never; until it is closed, nothing is taken, as by a queue with block_on_overflow
	turn      chan struct{}                // nil = no limit; else it takes one message at a time, and sinkRate per second
}

func (s *profilesSink) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: s.spoils}
}

// refuseOnly sets which messages are refused from now on.
func (s *profilesSink) refuseOnly(which func(pprofile.Profiles) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = which
}

// answer sets what it says from now on.
func (s *profilesSink) answer(refuse error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

func (s *profilesSink) ConsumeProfiles(ctx context.Context, p pprofile.Profiles) error {
	if s.full != nil {
		select {
		case <-s.full:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.turn != nil {
		s.turn <- struct{}{}
		time.Sleep(time.Second / sinkRate)
		<-s.turn
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		s.refusals++
		if s.spoils {
			pprofile.NewProfiles().MoveTo(p)
		}
		return s.refuse
	}
	if s.refuses != nil && s.refuses(p) {
		s.refusals++
		if s.permanent {
			return consumererror.NewPermanent(errRefused)
		}
		return errRefused
	}
	s.contexts = append(s.contexts, ctx)
	return s.ProfilesSink.ConsumeProfiles(ctx, p)
}

var errRefused = errors.New("this message is refused")

// sinkRate is the number of messages per second that a slow sink takes.
const sinkRate = 480

// projects counts what arrived by project.
func (s *profilesSink) projects() map[string]int {
	counts := map[string]int{}
	for _, p := range s.AllProfiles() {
		counts[projectOf(p)]++
	}
	return counts
}

func projectOf(p pprofile.Profiles) string {
	project, _ := p.ResourceProfiles().At(0).Resource().Attributes().Get("sentry.project_id")
	return project.Str()
}

// recordedIn is recorded, of a project.
func recordedIn(project string) pprofile.Profiles {
	p := recorded()
	p.ResourceProfiles().At(0).Resource().Attributes().PutStr("sentry.project_id", project)
	return p
}

func (s *profilesSink) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = nil
	s.Reset()
}

// received waits for a number of messages.
func (h *harness) received(n int) []pprofile.Profiles {
	h.t.Helper()
	require.Eventually(h.t, func() bool { return len(h.sink.AllProfiles()) >= n }, 30*time.Second, time.Millisecond)
	require.Len(h.t, h.sink.AllProfiles(), n)
	return h.sink.AllProfiles()
}

// memoryStorage is a storage extension that keeps everything in memory, as long as the test does.
type memoryStorage struct {
	component.StartFunc
	component.ShutdownFunc
	mu     sync.Mutex
	values map[string][]byte
	open   int
	fail   bool   // every operation, see fails
	unread string // reading this key fails
	delay  time.Duration
	rate   int // bytes per second that are written; 0 = no limit
}

func newMemoryStorage() *memoryStorage { return &memoryStorage{values: map[string][]byte{}} }

func (m *memoryStorage) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	m.open++
	return journaltest.Client{Batches: m}, nil
}

// fails makes every operation fail, or stops that.
func (m *memoryStorage) fails(fail bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

func (m *memoryStorage) Close(context.Context) error { m.open--; return nil }

func (m *memoryStorage) Batch(_ context.Context, ops ...*storage.Operation) error {
	time.Sleep(m.pause(ops))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail {
		return errors.New("disk full")
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			if op.Key == m.unread {
				return errors.New("bad sector")
			}
			op.Value = m.values[op.Key]
		case storage.Set:
			m.values[op.Key] = op.Value
		case storage.Delete:
			delete(m.values, op.Key)
		}
	}
	return nil
}

// pause returns the time that operations take.
func (m *memoryStorage) pause(ops []*storage.Operation) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	pause := m.delay
	for _, op := range ops {
		if m.rate > 0 {
			pause += time.Duration(len(op.Value)) * time.Second / time.Duration(m.rate)
		}
	}
	return pause
}

// slow sets how long every operation takes.
func (m *memoryStorage) slow(delay time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.delay = delay
}

// oneProfile is a message with one observation, of no session.
func oneProfile() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetTime(1000)
	profile.SetDurationNano(1000)
	profile.Samples().AppendEmpty().TimestampsUnixNano().Append(1500)
	b.Finish()
	return p
}

// idleAndBusy is a message with a profile in which the thread was idle, and one in which it was
// not.
func idleAndBusy() pprofile.Profiles {
	p := oneProfile()
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	busy := profiles.AppendEmpty()
	profiles.At(0).CopyTo(busy)
	e := dictionary.NewEditor(p.Dictionary())
	stack := e.Stack([]dictionary.LocationIndex{e.Location(dictionary.Location{Address: 1})})
	busy.Samples().At(0).SetStackIndex(int32(stack))
	return p
}

const session = "7f3d1c0a9b7e4d52a1c6f0e3b2d49871"

// recorded is a message with two observations of thread 1, at 1500 and 2500.
func recorded() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.project_id", "42")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetAttributes(profile.AttributeIndices(), b.Attribute("sentry.profiler_id", dictionary.StringValue(session), ""))
	profile.SetTime(1000)
	profile.SetDurationNano(2000)
	sample := profile.Samples().AppendEmpty()
	dictionary.SetAttributes(sample.AttributeIndices(), b.Attribute("thread.id", dictionary.IntValue(1), ""))
	sample.TimestampsUnixNano().Append(1500, 2500)
	b.Finish()
	return p
}

// span is a span on thread 1 of the session.
type span struct{ id, parent, start, end byte } // in units of 100

// request covers the first observation, not the second.
var request = span{id: 1, start: 10, end: 20}

func tracesOf(spans ...span) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.project_id", "42")
	scope := resource.ScopeSpans().AppendEmpty()
	for _, s := range spans {
		out := scope.Spans().AppendEmpty()
		out.SetTraceID(pcommon.TraceID{1})
		out.SetSpanID(pcommon.SpanID{s.id})
		out.SetParentSpanID(pcommon.SpanID{s.parent})
		out.SetStartTimestamp(pcommon.Timestamp(s.start) * 100)
		out.SetEndTimestamp(pcommon.Timestamp(s.end) * 100)
		out.Attributes().PutStr("sentry.profiler_id", session)
		out.Attributes().PutStr("thread.id", "1")
	}
	return traces
}

// linksOf says which span each observation is linked to, by its first byte, 0 for none.
func linksOf(p pprofile.Profiles) map[uint64]byte {
	links := map[uint64]byte{}
	for _, sample := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().All() {
		id := p.Dictionary().LinkTable().At(int(sample.LinkIndex())).SpanID()
		for _, instant := range sample.TimestampsUnixNano().All() {
			links[instant] = id[0]
		}
	}
	return links
}
