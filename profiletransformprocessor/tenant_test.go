// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func TestTenant(t *testing.T) {
	keys := spanlink.Keys{Tenant: []string{"sentry.project_id", "service.namespace"}}
	of := func(p pprofile.Profiles) spanlink.Tenant { return tenantOf(t.Context(), keys, p) }
	assert.Zero(t, of(pprofile.NewProfiles()))
	p := recordedIn("42")
	p.ResourceProfiles().AppendEmpty().Resource().Attributes().PutStr("sentry.project_id", "43")
	assert.Equal(t, spanlink.Tenant{Stated: "42"}, of(p), "that of the first resource")
	attributes := p.ResourceProfiles().At(0).Resource().Attributes()
	attributes.PutInt("service.namespace", 7)
	assert.Equal(t, spanlink.Tenant{Stated: "42"}, of(p), "by the first key that is there")
	attributes.Remove("sentry.project_id")
	assert.Equal(t, spanlink.Tenant{Stated: "7"}, of(p))
	attributes.PutStr("service.namespace", strings.Repeat("x", 1<<20))
	assert.Zero(t, of(p), "too long for a name")
	assert.Equal(t, spanlink.Tenant{Authenticated: "1/42", Stated: "42"}, tenantOf(as(t.Context(), project42), keys, recordedIn("42")))
}

var project42 = tenant.Tenant{Ingress: tenant.Sentry, Name: "42"}

func as(ctx context.Context, of tenant.Tenant) context.Context { return tenant.NewContext(ctx, of) }

// writtenKeys returns every attribute key that this project writes.
func writtenKeys(t *testing.T) (keys []string) {
	t.Helper()
	files, err := filepath.Glob("../internal/semconv/*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				key, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				keys = append(keys, key)
			}
			return true
		})
	}
	require.Greater(t, len(keys), 150)
	return keys
}

// program has the resource attributes with which spans without a session find their session.
var program = map[string]string{"service.name": "shop", "telemetry.sdk.name": "sentry.javascript.node", "telemetry.sdk.version": "11.12.0"}

// The victim's data: a span with a session, and one that belongs to a session by its program.
func victimSpans() ptrace.Traces {
	traces := tracesOf(request)
	unstated := tracesOf(span{id: 9, start: 10, end: 20})
	for key, value := range program {
		unstated.ResourceSpans().At(0).Resource().Attributes().PutStr(key, value)
	}
	attributes := unstated.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	attributes.Remove("sentry.profiler_id")
	attributes.PutStr("sentry.trace_lifecycle", "stream")
	unstated.ResourceSpans().MoveAndAppendTo(traces.ResourceSpans())
	return traces
}

func victimProfiles(t *testing.T) (stated, unstated pprofile.Profiles) {
	t.Helper()
	stated, unstated = recorded(), recorded()
	for key, value := range program {
		unstated.ResourceProfiles().At(0).Resource().Attributes().PutStr(key, value)
	}
	for _, a := range unstated.Dictionary().AttributeTable().All() {
		if a.Value().AsString() == session {
			a.Value().SetStr(strings.Repeat("a", 32))
		}
	}
	return stated, unstated
}

// TestClientsCannotStateATenant sends every attribute that this project writes, at every level of
// spans and profiles, with the values and IDs of a project, from senders with other credentials.
// The project's links stay the same, and the others get none of its spans.
func TestClientsCannotStateATenant(t *testing.T) {
	values := map[string]string{"sentry.project_id": "42", "sentry.profiler_id": session, "thread.id": "1", "sentry.segment.id": "0100000000000000"}
	for key, value := range program {
		values[key] = value
	}
	keys := writtenKeys(t)
	put := func(attributes pcommon.Map) {
		for _, key := range keys {
			value, known := values[key]
			if !known {
				value = "42"
			}
			attributes.PutStr(key, value)
		}
	}
	levels := map[string]func(ptrace.Traces, pprofile.Profiles){
		"resource": func(s ptrace.Traces, p pprofile.Profiles) {
			put(s.ResourceSpans().At(0).Resource().Attributes())
			put(p.ResourceProfiles().At(0).Resource().Attributes())
		},
		"scope": func(s ptrace.Traces, p pprofile.Profiles) {
			put(s.ResourceSpans().At(0).ScopeSpans().At(0).Scope().Attributes())
			put(p.ResourceProfiles().At(0).ScopeProfiles().At(0).Scope().Attributes())
		},
		"span and profile": func(s ptrace.Traces, p pprofile.Profiles) {
			put(s.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes())
			putInTable(p, put, func(profile pprofile.Profile) pcommon.Int32Slice { return profile.AttributeIndices() })
		},
		"event, link and sample": func(s ptrace.Traces, p pprofile.Profiles) {
			span := s.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			put(span.Events().AppendEmpty().Attributes())
			put(span.Links().AppendEmpty().Attributes())
			putInTable(p, put, func(profile pprofile.Profile) pcommon.Int32Slice { return profile.Samples().At(0).AttributeIndices() })
		},
	}
	const attacker = "" // project of data without credentials; receivers overwrite that of a client
	for level, change := range levels {
		for name, sender := range map[string]tenant.Tenant{
			"anonymous": {}, "another project": {Ingress: tenant.Sentry, Name: "43"}, "an app": {Ingress: tenant.Measure, Name: "42"}, "a user": {Ingress: tenant.Other, Name: "42"},
		} {
			t.Run(level+", "+name, func(t *testing.T) {
				t.Parallel()
				for _, order := range []string{"before", "after"} {
					h := start(t, "link: {wait: 0s, max_spans: 20}")
					ours, theirs := as(t.Context(), project42), t.Context()
					if sender != (tenant.Tenant{}) {
						theirs = as(t.Context(), sender)
					}
					attack := func() {
						for i := range 40 { // also evicts
							spans, profiles := tracesOf(span{id: 1, start: 0, end: 40}, span{id: byte(i + 2), parent: 1, start: 14, end: 16}), recordedIn(attacker)
							change(spans, profiles)
							require.NoError(t, h.traces.ConsumeTraces(theirs, spans))
							if i == 0 {
								_, unstated := victimProfiles(t)
								change(spans, unstated)
								require.NoError(t, h.profiles.ConsumeProfiles(theirs, unstated))
							}
						}
					}
					if order == "before" {
						attack()
					}
					require.NoError(t, h.traces.ConsumeTraces(ours, victimSpans()))
					if order == "after" {
						attack()
					}
					h.sink.forget()
					stated, unstated := victimProfiles(t)
					require.NoError(t, h.profiles.ConsumeProfiles(ours, stated))
					require.NoError(t, h.profiles.ConsumeProfiles(ours, unstated))
					got := h.received(2)
					assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(got[0]), order)
					assert.Equal(t, map[uint64]byte{1500: 9, 2500: 0}, linksOf(got[1]), order)

					// Their profiles do not see our spans.
					h = start(t, "link: {wait: 0s}")
					require.NoError(t, h.traces.ConsumeTraces(ours, victimSpans()))
					profiles := recordedIn("42")
					change(tracesOf(request), profiles)
					require.NoError(t, h.profiles.ConsumeProfiles(theirs, profiles))
					assert.Equal(t, map[uint64]byte{1500: 0, 2500: 0}, linksOf(h.received(1)[0]))
				}
			})
		}
	}
}

// putInTable adds attributes to a record that refers to the attribute table.
func putInTable(p pprofile.Profiles, put func(pcommon.Map), indicesOf func(pprofile.Profile) pcommon.Int32Slice) {
	all := pcommon.NewMap()
	put(all)
	e := dictionary.NewEditor(p.Dictionary())
	indices := indicesOf(p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0))
	for key, value := range all.All() {
		indices.Append(int32(e.Attribute(key, value)))
	}
}

// A gateway that receives OTLP from agents sees projects only in the data. The resource separates
// them: what a span states does not.
func TestSpansCannotStateAProject(t *testing.T) {
	h := start(t, "link: {wait: 0s}")
	spans := tracesOf(request)
	spans.ResourceSpans().At(0).Resource().Attributes().PutStr("sentry.project_id", "43")
	spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("sentry.project_id", "42")
	spans.ResourceSpans().At(0).ScopeSpans().At(0).Scope().Attributes().PutStr("sentry.project_id", "42")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), spans))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("42")))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("43")))
	got := h.received(2)
	assert.Equal(t, map[uint64]byte{1500: 0, 2500: 0}, linksOf(got[0]))
	assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(got[1]))
}

// A sender without credentials states many projects. Its held messages count as those of one
// sender: those of a project with credentials stay.
func TestStatedTenantsShareTheQueue(t *testing.T) {
	h := start(t, "link: {wait: 1h, keep_spans: 2h, max_held_profiles: 20}")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), spansIn("0", 1)))
	for range 10 {
		require.NoError(t, h.profiles.ConsumeProfiles(as(t.Context(), project42), recorded()))
	}
	for i := range 100 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn(strconv.Itoa(i))))
	}
	p := h.profiles.(*profilesProcessor)
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	assert.Equal(t, int64(10), p.queue.byCount.senders.Use(project42.String()))
}

// What is held for a sender keeps its tenant across a crash.
func TestStorageKeepsTheTenant(t *testing.T) {
	before := start(t, stored)
	require.NoError(t, before.profiles.ConsumeProfiles(as(t.Context(), project42), recorded()))
	require.NoError(t, before.profiles.ConsumeProfiles(t.Context(), recorded()))
	after := startWith(t, stored, before.store.crash())
	require.NoError(t, after.traces.ConsumeTraces(as(t.Context(), project42), tracesOf(request)))
	require.NoError(t, after.profiles.Shutdown(context.Background()))
	links := map[tenant.Tenant]map[uint64]byte{}
	for i, p := range after.received(2) {
		links[tenant.FromContext(after.sink.contexts[i])] = linksOf(p)
	}
	assert.Equal(t, map[tenant.Tenant]map[uint64]byte{project42: {1500: 1, 2500: 0}, {}: {1500: 0, 2500: 0}}, links)
}

// Spans that lost the credentials of their sender, for example in a batch processor, cannot be
// linked to profiles with credentials: that is logged once.
func TestSpansWithoutCredentials(t *testing.T) {
	h := start(t, "link: {wait: 0s}")
	warnings := func() int { return h.logs.FilterMessageSnippet("arrived without credentials").Len() }
	require.NoError(t, h.profiles.ConsumeProfiles(as(t.Context(), project42), recorded()))
	assert.Zero(t, warnings(), "no spans")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Zero(t, warnings(), "both without")
	for range 2 {
		require.NoError(t, h.profiles.ConsumeProfiles(as(t.Context(), project42), recorded()))
		assert.Equal(t, 1, warnings())
	}
}
