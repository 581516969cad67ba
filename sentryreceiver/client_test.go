// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"

	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

func TestSenderIsInTheClientMetadata(t *testing.T) {
	s := startSignals(t, func(c *Config) { c.HTTP.IncludeMetadata = true })
	body := "{\"sdk\":{\"name\":\"sentry.python\",\"version\":\"2.68.0\"}}\n" + item("transaction", "", fullTransaction) + profileItem +
		item("event", "", errorEvent) + item("session", "", session)
	req := s.request("POST", "/api/42/envelope/", strings.NewReader(body))
	req.Header.Set("X-Sentry-Auth", "Sentry sentry_key="+testKey+", sentry_secret=0123secret")
	req.Header.Set("X-Tenant", "blue")
	req.Header.Set("Sentry.Public_Key", "of somebody else")
	require.Equal(t, 200, s.do(req).status)

	contexts := map[string][]context.Context{
		"profiles": s.sink.contexts, "traces": s.traces.Contexts(), "logs": s.logs.Contexts(), "metrics": s.points.Contexts(),
	}
	for signal, all := range contexts {
		require.Len(t, all, 1, signal)
		info := client.FromContext(all[0])
		assert.Equal(t, []string{"42"}, info.Metadata.Get("sentry.project_id"), signal)
		assert.Equal(t, []string{testKey}, info.Metadata.Get("sentry.public_key"), signal)
		assert.Equal(t, []string{"sentry.python"}, info.Metadata.Get("sentry.sdk_name"), signal)
		assert.Equal(t, []string{"blue"}, info.Metadata.Get("X-Tenant"), "what confighttp was told to include")
		assert.Equal(t, "127.0.0.1", info.Addr.String(), signal)
		for key := range info.Metadata.Keys() {
			if key != "x-sentry-auth" { // which the user asked for
				assert.NotContains(t, info.Metadata.Get(key), "0123secret", key)
			}
		}
	}
}

func TestSDKNamesOfTheClientsMaking(t *testing.T) {
	s := startSignals(t, nil)
	for name, want := range map[string]string{
		``:                          "sentry.python", // of the credentials
		`sentry.cocoa`:              "sentry.cocoa",
		`a\r\nX-Injected: 1`:        ledger.Unidentified.SDK,
		strings.Repeat("a", 10_000): ledger.Unidentified.SDK,
	} {
		s.logs.Reset()
		require.Equal(t, 200, s.post(`{"sdk":{"name":"`+name+`"}}`+"\n"+item("event", "", errorEvent)).status)
		require.Len(t, s.logs.Contexts(), 1)
		assert.Equal(t, []string{want}, client.FromContext(s.logs.Contexts()[0]).Metadata.Get("sentry.sdk_name"), "%.20q", name)
	}
}
