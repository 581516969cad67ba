// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/spanlinktest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// TestCorpus sends every recorded request of every SDK to the receiver with the processor behind
// it, in the order of the recording, and what the receiver made of them to the processor backwards
// and shuffled. The links are the same, and those that the oracle finds without an index, on every
// observation. With -v it prints the table of docs/linking.md, and it fails if that is another. In
// small size, it sends some requests of each SDK.
func TestCorpus(t *testing.T) {
	recordedOrder := replayCorpus(t)
	table := recordedOrder.check(t)
	t.Logf("linked to spans, by SDK:\n%s", table)
	if testsize.Full() {
		page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "linking.md"))
		require.NoError(t, err)
		assert.Contains(t, string(page), table, "docs/linking.md has another table")
		sdks := map[string]bool{}
		for _, r := range recordedEnvelopes(t) {
			sdks[sdkOf(r)] = true
		}
		assert.Contains(t, string(page), fmt.Sprintf("all %d recorded envelope requests, from %d SDK versions,", len(recordedEnvelopes(t)), len(sdks)))
	}

	messages := slices.Clone(recordedOrder.sent)
	want := recordedOrder.links()
	slices.Reverse(messages)
	mustLink(t, want, messages, "backwards")
	r := rand.New(rand.NewPCG(4, 2026))
	r.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
	mustLink(t, want, messages, "shuffled")
}

func mustLink(t *testing.T, want []string, messages []message, order string) {
	t.Helper()
	got := replay(t, messages).links()
	if !slices.Equal(want, got) { // faster than by reflection
		assert.Equal(t, want, got, order)
	}
}

func sdkOf(r golden.Request) string {
	sdk, _, _ := strings.Cut(r.Name, "/")
	return sdk
}

// recordedEnvelopes are the recorded envelope requests. In small size, these are the first of each
// SDK that are not large.
func recordedEnvelopes(t *testing.T) []golden.Request {
	const each = 15
	count := map[string]int{}
	return slices.DeleteFunc(golden.Corpus(t), func(r golden.Request) bool {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/envelope/") {
			return true
		}
		if testsize.Full() {
			return false
		}
		if count[sdkOf(r)] == each || len(r.Decoded(t)) > golden.SmallPayload {
			return true
		}
		count[sdkOf(r)]++
		return false
	})
}

// message is a message that the receiver makes of a recorded request: profiles or traces.
type message struct {
	profiles pprofile.Profiles
	traces   ptrace.Traces
}

// replayed is what the receiver sent to the processor, and what came out.
type replayed struct {
	sent     []message
	profiles []pprofile.Profiles
	traces   []ptrace.Traces
}

var replayOnce struct {
	sync.Once
	replayed
}

// replayCorpus sends the recorded requests to the receiver once, with the processor behind it.
func replayCorpus(t *testing.T) replayed {
	replayOnce.Do(func() { replayOnce.replayed = replayRequests(t, recordedEnvelopes(t)) })
	require.NotEmpty(t, replayOnce.sent, "the replay failed in another test")
	return replayOnce.replayed
}

// replayRequests sends requests to a receiver with the processor behind it.
func replayRequests(t *testing.T, requests []golden.Request) (r replayed) {
	h := startReplay(t)
	sent := receive(t, h, requests)
	r = finishReplay(t, h)
	r.sent = sent
	return r
}

// replay sends copies of messages to the processor.
func replay(t *testing.T, messages []message) replayed {
	h := startReplay(t)
	for _, m := range messages {
		if m.traces == (ptrace.Traces{}) {
			p := pprofile.NewProfiles()
			m.profiles.CopyTo(p)
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), p))
			continue
		}
		traces := ptrace.NewTraces()
		m.traces.CopyTo(traces)
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	}
	r := finishReplay(t, h)
	r.sent = messages
	return r
}

// startReplay starts a processor in which no profile has waited long enough before finishReplay.
func startReplay(t *testing.T) *harness {
	return start(t, "link: {wait: 1h, keep_spans: 2h, max_spans: 1000000, max_held_bytes: 1000000000}")
}

func finishReplay(t *testing.T, h *harness) replayed {
	p := h.profiles.(*profilesProcessor)
	for waiting := p.queue.popAny(t.Context()); waiting != nil; waiting = p.queue.popAny(t.Context()) {
		p.release(waiting, releasedDue)
	}
	assert.Zero(t, h.counts("spans")["event=evicted"])
	return replayed{profiles: h.sink.AllProfiles(), traces: h.passed.AllTraces()}
}

// receive sends requests to a receiver in front of the processor, and returns copies of the
// messages that it makes of them.
func receive(t *testing.T, h *harness, requests []golden.Request) (sent []message) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	f := sentryreceiver.NewFactory()
	cfg := f.CreateDefaultConfig()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"endpoint": address}).Unmarshal(cfg))
	profiles, err := f.(xreceiver.Factory).CreateProfiles(t.Context(), receivertest.NewNopSettings(f.Type()), cfg, profilesTap{h.profiles, &sent})
	require.NoError(t, err)
	traces, err := f.CreateTraces(t.Context(), receivertest.NewNopSettings(f.Type()), cfg, tracesTap{h.traces, &sent})
	require.NoError(t, err)
	require.NoError(t, profiles.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))

	client := http.Client{Transport: &http.Transport{}}
	for _, r := range requests {
		request, err := http.NewRequest(http.MethodPost, "http://"+address+r.Path+"?"+r.Query, bytes.NewReader(r.Decoded(t)))
		require.NoError(t, err)
		request.Header.Set("X-Sentry-Auth", r.Header("X-Sentry-Auth"))
		response, err := client.Do(request)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, response.StatusCode, r.Name)
		require.NoError(t, response.Body.Close())
	}
	client.CloseIdleConnections()
	require.NoError(t, profiles.Shutdown(context.Background()))
	require.NoError(t, traces.Shutdown(context.Background()))
	return sent
}

// profilesTap and tracesTap keep copies of the messages that they forward. The requests come one
// after the other.
type (
	profilesTap struct {
		xconsumer.Profiles
		sent *[]message
	}
	tracesTap struct {
		consumer.Traces
		sent *[]message
	}
)

func (tap profilesTap) ConsumeProfiles(ctx context.Context, p pprofile.Profiles) error {
	kept := pprofile.NewProfiles()
	p.CopyTo(kept)
	*tap.sent = append(*tap.sent, message{profiles: kept})
	return tap.Profiles.ConsumeProfiles(ctx, p)
}

func (tap tracesTap) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	kept := ptrace.NewTraces()
	traces.CopyTo(kept)
	*tap.sent = append(*tap.sent, message{traces: kept})
	return tap.Traces.ConsumeTraces(ctx, traces)
}

// links are those of all observations, in an order of their own.
func (r replayed) links() (all []string) {
	for _, message := range r.profiles {
		for _, o := range observationsOf(message) {
			all = append(all, fmt.Sprint(o.profile, " ", o.thread, " ", o.stack, " ", o.instant, " ", o.span))
		}
	}
	slices.Sort(all)
	return all
}

// check asks the oracle about every observation, and makes the table.
func (r replayed) check(t *testing.T) string {
	continuous := spanlinktest.New(r.traces...)
	transactions := map[string]ptrace.Traces{}
	for _, message := range r.traces {
		for id := range rootsOf(message) {
			transactions[id] = message
		}
	}
	var next atomic.Int64
	var validating sync.WaitGroup
	defer validating.Wait()
	for range runtime.GOMAXPROCS(0) {
		validating.Go(func() {
			for i := next.Add(1); i <= int64(len(r.profiles)); i = next.Add(1) {
				dictionarytest.MustBeValid(t, r.profiles[i-1])
			}
		})
	}
	rows := map[string]map[spanlinktest.Reason]int{}
	for _, message := range r.profiles {
		all := observationsOf(message)
		oracle, session, shift := continuous, all[0].session, int64(0)
		if session == "" {
			session = "envelope"
			oracle, shift = ofTransaction(transactions[all[0].transaction], all[0], session)
		}
		for _, o := range all {
			answer := oracle.Ask("4507", session, o.thread, o.alone, o.instant+uint64(shift))
			want := pcommon.SpanID{}
			if answer.Span != nil {
				want = answer.Span.ID
			}
			if o.span != want {
				t.Fatalf("profile %s, thread %s at %d is linked to %s, want %s: %s", o.profile, o.thread, o.instant, o.span, want, answer.Why)
			}
			if rows[o.sdk] == nil {
				rows[o.sdk] = map[spanlinktest.Reason]int{}
			}
			if o.idle {
				rows[o.sdk]["idle"]++
			} else {
				rows[o.sdk][answer.Why]++
			}
		}
	}
	return table(rows)
}

// table has a row for each SDK: its observations that were not idle, the share of them that are
// linkable, because a span ran on their thread at that time, and the share of these that are
// linked.
func table(rows map[string]map[spanlinktest.Reason]int) string {
	var b strings.Builder
	b.WriteString("| SDK | format | active observations | linkable | linked, of linkable |\n|---|---|---|---|---|\n")
	for _, sdk := range slices.Sorted(maps.Keys(rows)) {
		row := rows[sdk]
		delete(row, "idle")
		total := 0
		for _, count := range row {
			total += count
		}
		linked, linkable := row[""], row[""]+row[spanlinktest.Ambiguous]
		share := func(part, of int) float64 { return 100 * float64(part) / float64(max(1, of)) }
		fmt.Fprintf(&b, "| %s | %d | %.1f%% | %.1f%% |\n", sdk, total, share(linkable, total), share(linked, linkable))
	}
	return b.String()
}

// observation is one instant of a sample of a recording.
type observation struct {
	sdk, profile, session, transaction string
	active                             string // the transaction's thread
	anchor                             uint64
	thread                             string
	alone                              bool
	stack                              int32
	idle                               bool
	instant                            uint64
	span                               pcommon.SpanID
}

// observationsOf lists those of a message with one profile.
func observationsOf(message pprofile.Profiles) (all []observation) {
	dict := message.Dictionary()
	text := func(i int32) string { return dict.StringTable().At(int(i)) }
	attribute := func(indices pcommon.Int32Slice, key string) string {
		for _, i := range indices.All() {
			if a := dict.AttributeTable().At(int(i)); text(a.KeyStrindex()) == key {
				return a.Value().AsString()
			}
		}
		return ""
	}
	resource := message.ResourceProfiles().At(0)
	scope := resource.ScopeProfiles().At(0)
	profile := scope.Profiles().At(0)
	id := profile.ProfileID()
	base := observation{
		sdk:     fmt.Sprintf("%s %s | V%s", scope.Scope().Name(), scope.Scope().Version(), attribute(profile.AttributeIndices(), "sentry.profile.version")),
		profile: fmt.Sprintf("%x", id), session: attribute(profile.AttributeIndices(), "sentry.profiler_id"),
		transaction: attribute(profile.AttributeIndices(), "sentry.transaction.id"),
		active:      attribute(profile.AttributeIndices(), "sentry.active_thread.id"), anchor: uint64(profile.Time()),
	}
	threads := map[string]bool{}
	for _, sample := range profile.Samples().All() {
		threads[attribute(sample.AttributeIndices(), "thread.id")] = true
	}
	base.alone = len(threads) == 1
	for _, sample := range profile.Samples().All() {
		o := base
		o.thread, o.stack = attribute(sample.AttributeIndices(), "thread.id"), sample.StackIndex()
		o.idle = isIdle(dict, sample.StackIndex())
		o.span = dict.LinkTable().At(int(sample.LinkIndex())).SpanID()
		for _, o.instant = range sample.TimestampsUnixNano().All() {
			all = append(all, o)
		}
	}
	return all
}

// isIdle: an empty stack, or node's word for it.
func isIdle(dict pprofile.ProfilesDictionary, stack int32) bool {
	locations := dict.StackTable().At(int(stack)).LocationIndices()
	if locations.Len() == 0 {
		return true
	}
	function := dict.FunctionTable().At(int(dict.LocationTable().At(int(locations.At(0))).Lines().At(0).FunctionIndex()))
	return dict.StringTable().At(int(function.NameStrindex())) == "(idle)"
}

// rootsOf finds the root spans of transactions, by the transaction's id.
func rootsOf(message ptrace.Traces) map[string]ptrace.Span {
	roots := map[string]ptrace.Span{}
	for _, span := range message.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		if id, ok := span.Attributes().Get("sentry.transaction.id"); ok {
			roots[id.Str()] = span
		}
	}
	return roots
}

// ofTransaction makes an oracle for a V1 profile, as if its transaction stated session and thread,
// and says by how much the profile's clock is off.
func ofTransaction(transaction ptrace.Traces, o observation, session string) (*spanlinktest.Oracle, int64) {
	stated := ptrace.NewTraces()
	transaction.CopyTo(stated)
	for _, span := range stated.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		span.Attributes().PutStr("sentry.profiler_id", session)
		if _, ok := span.Attributes().Get("thread.id"); !ok && !o.alone {
			span.Attributes().PutStr("thread.id", o.active)
		}
	}
	root := rootsOf(stated)[o.transaction]
	if o.anchor >= uint64(root.EndTimestamp()) || strings.HasPrefix(o.sdk, "sentry.ruby") {
		return spanlinktest.New(stated), int64(root.StartTimestamp()) - int64(o.anchor)
	}
	return spanlinktest.New(stated), 0
}
