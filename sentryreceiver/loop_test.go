// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/loopguard"
)

// TestLoop: data that this process has forwarded is refused, and that of another collector passes
// with the IDs for its exporters.
func TestLoop(t *testing.T) {
	for _, test := range []struct {
		name, via string
		status    int
	}{
		{"an SDK", "", http.StatusOK},
		{"another collector", loopguard.New().Send(""), http.StatusOK},
		{"another receiver of this collector", loopguard.Shared.Send(""), http.StatusOK},
		{"this receiver", loopguard.Shared.Send(loopguard.Shared.Send("")), http.StatusMisdirectedRequest},
		{"this receiver, then another collector", loopguard.New().Send(loopguard.Shared.Send(loopguard.Shared.Send(""))), http.StatusMisdirectedRequest},
	} {
		t.Run(test.name, func(t *testing.T) { // ends the receiver: a process may have several
			s := startSignals(t, nil)
			for range 3 {
				req := s.envelopeRequest([]byte(envelope(item("event", "", errorEvent))))
				if test.via != "" {
					req.Header.Set(loopguard.Header, test.via)
				}
				require.Equal(t, test.status, s.do(req).status)
			}
			if test.status != http.StatusOK {
				assert.Equal(t, map[string]int64{"reason=loop": 3}, s.rejected())
				assert.Zero(t, s.logs.LogRecordCount())
				return
			}
			assert.Equal(t, 3, s.logs.LogRecordCount())
			for _, ctx := range s.logs.Contexts() {
				assert.Equal(t, test.via, loopguard.Via(ctx))
			}
		})
	}
}
