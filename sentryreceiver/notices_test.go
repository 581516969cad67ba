// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap/zapcore"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
)

// TestNotices: rejected requests and unusable items are in the viewer with their reason, and once
// in the log at the default level.
func TestNotices(t *testing.T) {
	h := start(t, func(c *Config) { c.PathPrefix = "/p" })
	id := component.MustNewIDWithName("sentry", uuid.NewString()) // the notices are those of the process
	h.receiver.Shared.id = id
	for range 3 {
		assert.Equal(t, http.StatusUnauthorized, h.do(h.request(http.MethodPost, "/p/api/42/envelope/", strings.NewReader("{}\n"))).status)
		request := h.request(http.MethodPost, "/p/api/42/envelope/?sentry_key=a", strings.NewReader(envelope(item("profile", "", `{}`))))
		assert.Equal(t, http.StatusOK, h.do(request).status)
	}
	counts := map[string]int64{}
	list, endpoints, _ := notices.Shared.Read()
	for _, n := range list {
		if n.Component == id.String() {
			counts[n.Subject+": "+n.Reason] = n.Count
		}
	}
	require.Len(t, counts, 2)
	assert.EqualValues(t, 3, counts["requests: auth_missing"])
	info := h.logs.FilterLevelExact(zapcore.InfoLevel)
	assert.Len(t, info.FilterMessage("Request rejected").All(), 1)
	assert.Len(t, info.FilterMessage("Item discarded").All(), 1)
	_, port, _ := strings.Cut(strings.TrimPrefix(h.url, "http://"), ":")
	assert.Contains(t, endpoints, notices.Endpoint{Kind: notices.KindDSN, URL: "http://0123456789abcdef0123456789abcdef@localhost:" + port + "/p/1"})
}
