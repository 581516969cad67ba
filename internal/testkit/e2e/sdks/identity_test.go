// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
)

// upstream is the Sentry of a tee. It records requests.
type upstream struct {
	*httptest.Server
	mu       sync.Mutex
	requests []oracle.Wire
}

func newUpstream(t testing.TB) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		u.requests = append(u.requests, oracle.Wire{Method: req.Method, Target: req.RequestURI, Header: req.Header.Clone(), Body: string(body)})
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) all() []oracle.Wire {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.requests)
}

func (r *recorder) all() []oracle.Wire {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// compareForwarded compares all requests that the tee forwarded with those that the SDK sent, in
// any order, and the events in them as Relay's own library normalizes them.
func compareForwarded(t *testing.T, sent []oracle.Wire, to *upstream) {
	require.Eventually(t, func() bool { return len(to.all()) >= len(sent) }, 30*time.Second, 10*time.Millisecond, "requests at Sentry")
	forwarded := to.all()
	require.Len(t, forwarded, len(sent))
	var events []oracle.EventPair
	for _, requests := range [][]oracle.Wire{sent, forwarded} {
		slices.SortFunc(requests, func(a, b oracle.Wire) int {
			return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Body, b.Body))
		})
	}
	bytes := 0
	for i := range sent {
		bytes += len(sent[i].Body)
		if strings.Contains(sent[i].Target, "/envelope/") {
			events = append(events, oracle.EventPairs(t, sent[i], forwarded[i])...)
		}
		oracle.CompareForwarded(t, sent[i], forwarded[i])
	}
	t.Logf("forwarded by the tee: %d requests, %d bytes, as the SDK sent them", len(sent), bytes)
	oracle.NormalizeBoth(t, events)
}
