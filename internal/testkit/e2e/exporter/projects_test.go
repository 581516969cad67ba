// SPDX-License-Identifier: Apache-2.0

package exporter

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestProjectsSurviveKills: one exporter serves three Sentrys, with stored queues. One is down, one
// limits everything; the third receives its data meanwhile. After a kill and a restart with the
// projects in another order, the first two receive theirs, and nothing else.
func TestProjectsSurviveKills(t *testing.T) {
	services := []string{"shop", "pay", "search"} // the last one uses the default
	servers := map[string]*fakesentry.Server{}
	for _, service := range services {
		servers[service] = fakesentry.Start(t)
	}
	servers["shop"].Answer(func(*fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: http.StatusServiceUnavailable}
	})
	servers["pay"].Answer(func(*fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "3600::organization"}}
	})
	storage, address := t.TempDir(), harness.FreeAddress(t)
	start := func(order ...string) *harness.Collector {
		var dsns []string
		for _, service := range order {
			dsns = append(dsns, fmt.Sprintf("{match: {service.name: '%s*'}, dsn: %s}", service, servers[service].DSN()))
		}
		set := sentryOut(servers["search"], storage)
		set.Config = strings.NewReplacer(
			"traces: {receivers: [sentry]", "traces: {receivers: [otlp]",
			"receivers:\n  sentry:", "receivers:\n  otlp: {protocols: {http: {endpoint: '"+address+"'}}}\n  sentry:",
			"    retry_on_failure", "    dsns: ["+strings.Join(dsns, ", ")+"]\n    retry_on_failure",
		).Replace(set.Config)
		return harness.Start(t, set)
	}
	c := start("shop", "pay")
	const messages = 20
	for range messages {
		resp, err := http.Post("http://"+address+"/v1/traces", "application/json", strings.NewReader(spansOf(services)))
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	require.Eventually(t, func() bool { return len(transactionsOf(servers["search"])) == messages }, 30*time.Second, 10*time.Millisecond)
	metrics, err := c.TryScrape()
	require.NoError(t, err)
	dsn, err := sentry.ParseDSN(servers["search"].DSN())
	require.NoError(t, err)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		metrics, err = c.TryScrape()
		assert.NoError(t, err)
		assert.Equal(t, messages, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=sent", "project="+dsn.Host+"/42"))
	}, 30*time.Second, 50*time.Millisecond)
	assert.Equal(t, messages, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=sent"))
	c.Kill()

	servers["shop"].Answer(nil)
	servers["pay"].Answer(nil)
	start("pay", "shop")
	for service, server := range servers {
		want := slices.Repeat([]string{service}, messages)
		if service == "search" {
			continue
		}
		require.EventuallyWithT(t, func(t *assert.CollectT) { assert.Equal(t, want, transactionsOf(server)) }, 30*time.Second, 10*time.Millisecond)
	}
	for service, server := range servers {
		for _, taken := range transactionsOf(server) {
			require.Equal(t, service, taken)
		}
	}
	harness.CheckLog(t, c, fakesentry.PublicKey)
}

// TestFullQueueOfAProject: one of three projects is down until its stored queue is full. The others
// receive everything, and so the sender receives no error. Each transaction that the full queue
// refused is counted; it receives all others when it is up again, after a kill and a restart.
func TestFullQueueOfAProject(t *testing.T) {
	t.Parallel()
	services := []string{"shop", "pay", "search"} // the last one uses the default
	servers := map[string]*fakesentry.Server{}
	for _, service := range services {
		servers[service] = fakesentry.Start(t)
	}
	servers["shop"].Answer(func(*fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: http.StatusServiceUnavailable}
	})
	storage, address := t.TempDir(), harness.FreeAddress(t)
	const places, messages = 60, 200
	const refused = messages - places
	start := func() *harness.Collector {
		set := sentryOut(servers["search"], storage)
		set.Config = strings.NewReplacer(
			"traces: {receivers: [sentry]", "traces: {receivers: [otlp]",
			"receivers:\n  sentry:", "receivers:\n  otlp: {protocols: {http: {endpoint: '"+address+"'}}}\n  sentry:",
			"    retry_on_failure", fmt.Sprintf("    dsns: [{match: {service.name: shop}, dsn: %s}, {match: {service.name: pay}, dsn: %s}]\n    retry_on_failure",
				servers["shop"].DSN(), servers["pay"].DSN()),
			"storage: file_storage", fmt.Sprintf("storage: file_storage, sizer: requests, queue_size: %d", places),
		).Replace(set.Config)
		return harness.Start(t, set)
	}
	c := start()
	for range messages {
		// The queues of the other projects are never full.
		sent := len(transactionsOf(servers["pay"]))
		resp, err := http.Post("http://"+address+"/v1/traces", "application/json", strings.NewReader(spansOf(services)))
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, "the others would receive a repeated message twice")
		require.Eventually(t, func() bool { return len(transactionsOf(servers["pay"])) > sent }, 30*time.Second, time.Millisecond)
	}
	require.Eventually(t, func() bool { return len(transactionsOf(servers["search"])) == messages }, 30*time.Second, 10*time.Millisecond)
	require.Len(t, transactionsOf(servers["pay"]), messages)

	dsn, err := sentry.ParseDSN(servers["shop"].DSN())
	require.NoError(t, err)
	metrics := c.Scrape(t)
	assert.Equal(t, refused, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=refused", "reason=queue_full", "type=transaction", "project="+dsn.Host+"/42"))
	assert.Equal(t, refused, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=refused"), "no other drops")
	assert.Equal(t, refused, metrics.Sum("otelcol_exporter_enqueue_failed_spans"))
	c.Kill()

	servers["shop"].Answer(nil)
	c = start()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		assert.Len(t, transactionsOf(servers["shop"]), places)
		metrics, err := c.TryScrape()
		assert.NoError(t, err)
		assert.Zero(t, metrics.Sum("otelcol_exporter_queue_size"))
	}, 30*time.Second, 50*time.Millisecond)
	assert.Len(t, transactionsOf(servers["pay"]), messages)
	assert.Len(t, transactionsOf(servers["search"]), messages)
	assert.Zero(t, c.Scrape(t).Sum("otelcol_exporter_sentry_envelope_items", "outcome=refused"))
	harness.CheckLog(t, c, fakesentry.PublicKey)
}

// spansOf is an OTLP message with the root span of a trace for each service.
func spansOf(services []string) string {
	var resources []string
	for _, service := range services {
		resources = append(resources, fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}}]},`+
			`"scopeSpans":[{"spans":[{"traceId":%q,"spanId":"1111111111111111","name":%q,"startTimeUnixNano":"%d",`+
			`"endTimeUnixNano":"%[4]d"}]}]}`, service, harness.NewID(), service, time.Now().UnixNano()))
	}
	return `{"resourceSpans":[` + strings.Join(resources, ",") + `]}`
}

// transactionsOf returns the services of the accepted transactions. After a kill, the last ones may
// arrive again, with their IDs.
func transactionsOf(server *fakesentry.Server) (services []string) {
	seen := map[string]bool{}
	for _, e := range server.Taken() {
		if e.Items[0].Header.Type != sentry.ItemTransaction || seen[e.Header.EventID] {
			continue
		}
		seen[e.Header.EventID] = true
		for _, service := range []string{"shop", "pay", "search"} {
			if strings.Contains(string(e.Items[0].Payload), `"service.name":"`+service+`"`) {
				services = append(services, service)
			}
		}
	}
	return services
}
