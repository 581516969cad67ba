// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
)

// TestNotices: the page shows what other components rejected, with text of clients made safe.
func TestNotices(t *testing.T) {
	h := start(t, nil)
	withdraw := notices.Shared.Offer(notices.Endpoint{Kind: notices.KindDSN, URL: "http://a@localhost:4319/1"})
	component := fmt.Sprint("sentry/", time.Now().UnixNano()) // the counts of a process add up over repeated runs
	notices.Shared.Report(notices.Notice{
		Component: component, Service: "shop", Subject: "requests", Reason: "auth_bad_key", Detail: "key \u202e", Count: 2, Last: time.Unix(1, 0),
	})
	got := get[noticesAnswer](h, "notices")
	dsn := endpointAnswer{"dsn", "http://a@localhost:4319/1"}
	assert.Contains(t, got.Endpoints, dsn) // other tests may have receivers
	assert.Contains(t, got.Notices, noticeAnswer{component, "shop", "requests", "auth_bad_key", `key \u{202e}`, 2, "1970-01-01T00:00:01Z"})

	notices.Shared.Hold(component, 3, 30*time.Second)
	got = get[noticesAnswer](h, "notices")
	assert.Equal(t, []float64{3, 30}, []float64{float64(got.Held), got.HeldFor})
	notices.Shared.Hold(component, -3, 30*time.Second)
	assert.Zero(t, get[noticesAnswer](h, "notices").HeldFor)

	first, _ := h.request("/api/notices")
	same, _ := h.request("/api/notices", "If-None-Match", first.Header.Get("ETag"))
	assert.Equal(t, http.StatusNotModified, same.StatusCode)
	withdraw()
	assert.NotContains(t, get[noticesAnswer](h, "notices").Endpoints, dsn)
}
