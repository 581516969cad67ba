// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// ActiveThreadOnly keeps the samples of the thread that ran the transaction. Some SDKs (Python, Go)
// record all threads of the process in the profile of each transaction. The profiles of concurrent
// transactions then contain the same samples, and sums over profiles count them several times.
//
// It drops the samples of all other threads, including those that ran no transaction, in profiles
// that state their active thread (sentry.active_thread.id). Other profiles stay unchanged.
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
