// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// ActiveThreadOnly keeps the samples of the thread that ran the transaction. Some SDKs (Python, Go)
// put all threads of the process into the profile of each transaction. Concurrent transactions then
// repeat each other's samples, and sums over profiles count them twice.
//
// It drops the samples of other threads in profiles that state their active thread
// (sentry.active_thread.id), including the samples of threads that ran no transaction. Other
// profiles stay unchanged.
type ActiveThreadOnly struct{}

func (*ActiveThreadOnly) Validate() error { return nil }

func (*ActiveThreadOnly) apply(m *message) {
	active, threads := m.textsOf(semconv.SentryActiveThreadID), m.textsOf(semconv.ThreadID)
	m.drop(InactiveThread, func(profile pprofile.Profile) func(pprofile.Sample) bool {
		id := active.of(profile.AttributeIndices())
		if id == nil {
			return nil
		}
		return func(s pprofile.Sample) bool { return threads.of(s.AttributeIndices()) != id }
	})
}
