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

// linkKeys decides the link keys of the messages of an envelope.
type linkKeys struct {
	publicKey string
	sdk       sentry.ClientSDK
	seen      map[string]bool // at most maxLinkKeys
}

// statesSession reports whether all spans of an SDK state their profiler session. The native part
// of React Native states it, but the chunks come from the JavaScript part.
func statesSession(sdk sentry.ClientSDK) bool {
	return !strings.Contains(sdk.Name, "javascript") && !strings.HasSuffix(sdk.Name, "react-native")
}

// ofProfiles returns the link key of the profiles of an item.
func (k *linkKeys) ofProfiles(profiles pprofile.Profiles) string {
	view := dictionary.NewView(profiles.Dictionary())
	for _, resource := range profiles.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				if session := profilerSession(view, profile); session != "" {
					return k.ofSession(session)
				}
				if id := profile.ProfileID(); !id.IsEmpty() {
					return pcommon.TraceID(id).String() // V1: linked already
				}
			}
		}
	}
	return k.publicKey
}

func profilerSession(view dictionary.View, profile pprofile.Profile) string {
	for _, i := range profile.AttributeIndices().All() {
		if attribute, _ := view.Attribute(dictionary.AttributeIndex(i)); attribute.Key == semconv.SentryProfilerID {
			return attribute.Value.Str()
		}
	}
	return ""
}

// ofSpans returns the link key of the spans of an item, which are of one process: the first
// stated session is that of all. The item is complete if it has the segment of its spans.
func (k *linkKeys) ofSpans(traces ptrace.Traces, complete bool) string {
	trace := ""
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				if session, ok := span.Attributes().Get(semconv.SentryProfilerID); ok {
					return k.ofSession(session.Str())
				}
				if trace == "" && !span.TraceID().IsEmpty() {
					trace = span.TraceID().String()
				}
			}
		}
	}
	if trace == "" || !complete && !statesSession(k.sdk) {
		return k.publicKey
	}
	return k.limit(trace)
}

func (k *linkKeys) ofSession(session string) string {
	if session == "" || !statesSession(k.sdk) {
		return k.publicKey
	}
	return k.limit(session)
}

// maxLinkKeys bounds the messages that an envelope becomes because of its link keys. SDKs send the
// spans of one process together, mostly with one key.
const maxLinkKeys = 8

// limit returns the key, or the public key if the envelope has too many.
func (k *linkKeys) limit(key string) string {
	if !k.seen[key] {
		if len(k.seen) == maxLinkKeys {
			return k.publicKey
		}
		if k.seen == nil {
			k.seen = map[string]bool{}
		}
		k.seen[key] = true
	}
	return key
}
