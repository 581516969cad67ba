// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// A link key decides which of several collectors links a message: profiles and the spans of their
// profiler session have equal keys. It is the profiler session if both sides state it. The
// JavaScript SDKs state it only on the segment, which is sent after its children, so their profiles
// and spans share the public key. Messages that need no other message have a key of their own,
// which spreads them evenly.

// statesSession reports whether all spans of an SDK state their profiler session. The native part
// of React Native states it, but the chunks come from the JavaScript part.
func statesSession(sdk sentry.ClientSDK) bool {
	return !strings.Contains(sdk.Name, "javascript") && !strings.HasSuffix(sdk.Name, "react-native")
}

// profilesLinkKey returns the link key of the profiles of an item.
func (t *Translation) profilesLinkKey(profiles pprofile.Profiles) string {
	view := dictionary.NewView(profiles.Dictionary())
	for _, resource := range profiles.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				if session := profilerSession(view, profile); session != "" {
					return t.sessionKey(session)
				}
				if id := profile.ProfileID(); !id.IsEmpty() {
					return pcommon.TraceID(id).String() // V1: linked already
				}
			}
		}
	}
	return t.publicKey
}

func profilerSession(view dictionary.View, profile pprofile.Profile) string {
	for _, i := range profile.AttributeIndices().All() {
		if attribute, _ := view.Attribute(dictionary.AttributeIndex(i)); attribute.Key == semconv.SentryProfilerID {
			return attribute.Value.Str()
		}
	}
	return ""
}

// spansLinkKey returns the link key of the spans of an item, which are of one process: the first
// stated session is that of all. The item is complete if it has the segment of its spans.
func (t *Translation) spansLinkKey(traces ptrace.Traces, complete bool) string {
	trace := ""
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				if session, ok := span.Attributes().Get(semconv.SentryProfilerID); ok {
					return t.sessionKey(session.Str())
				}
				if trace == "" && !span.TraceID().IsEmpty() {
					trace = span.TraceID().String()
				}
			}
		}
	}
	if trace == "" || !complete && !statesSession(t.source.SDK) {
		return t.publicKey
	}
	return t.limitKeys(trace)
}

func (t *Translation) sessionKey(session string) string {
	if session == "" || !statesSession(t.source.SDK) {
		return t.publicKey
	}
	return t.limitKeys(session)
}

// maxLinkKeys bounds the messages that an envelope becomes because of its link keys. SDKs send the
// spans of one process together, mostly with one key.
const maxLinkKeys = 8

// limitKeys returns the key, or the public key if the envelope has too many.
func (t *Translation) limitKeys(key string) string {
	if !t.linkKeys[key] {
		if len(t.linkKeys) == maxLinkKeys {
			return t.publicKey
		}
		if t.linkKeys == nil {
			t.linkKeys = map[string]bool{}
		}
		t.linkKeys[key] = true
	}
	return key
}
