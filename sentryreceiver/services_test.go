// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// ofTheMachine are the beginnings of resource attributes that do not identify a service: they
// describe its machine and its runtime, and only some items state them.
var ofTheMachine = []string{"device.", "host.", "os.", "process.runtime.", "sentry.device."}

// identity is a resource without the description of its machine.
func identity(resource map[string]any) map[string]any {
	attributes := maps.Clone(resource)
	maps.DeleteFunc(attributes, func(key string, _ any) bool {
		return slices.ContainsFunc(ofTheMachine, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	})
	return attributes
}

// replay sends a recorded request as it was sent.
func (h *harness) replay(request golden.Request) reply {
	req := h.request(request.Method, request.Path+"?"+request.Query, bytes.NewReader(request.Body))
	for _, header := range request.Headers {
		if header[0] != "Host" {
			req.Header.Add(header[0], header[1])
		}
	}
	return h.do(req)
}

// TestOneProcessOneResource replays every recorded process, and compares the resources of all that
// comes of it, in all signals. Reports of browsers are not by an SDK.
func TestOneProcessOneResource(t *testing.T) {
	small := []string{"sentry.javascript.node-10.75.3/tunnel-manual-locals", "sentry.python-2.68.0/rate-limited", "sentry.ruby-6.6.2/txn-profiling-stackprof"}
	processes := map[string][]golden.Request{}
	for _, request := range golden.Corpus(t) {
		if !testsize.Full() && !slices.Contains(small, path.Dir(request.Name)) {
			continue
		}
		if !strings.HasSuffix(request.Path, "/security/") {
			process := path.Dir(request.Name)
			processes[process] = append(processes[process], request)
		}
	}
	seen := 0
	for process, requests := range processes {
		t.Run(process, func(t *testing.T) {
			s := startSignals(t, func(cfg *Config) { cfg.TunnelPath = "/tunnel" })
			for _, request := range requests {
				got := s.replay(request)
				require.Equal(t, http.StatusOK, got.status, "%s: %s", request.Name, got.text)
			}
			all := s.resources()
			seen += len(all)
			var first map[string]any
			for signal, resource := range all {
				if first == nil {
					first = identity(resource)
				}
				assert.Equal(t, first, identity(resource), signal)
				assert.NotEmpty(t, resource[semconv.TelemetrySDKLanguage], signal)
			}
		})
	}
	t.Logf("%d resources of %d processes", seen, len(processes))
}

// serviceOf posts an envelope as a program, and returns the service of what comes of it.
func (s *signals) serviceOf(t *testing.T, project, key, sdk string, items ...string) string {
	t.Helper()
	s.traces.Reset()
	s.logs.Reset()
	s.points.Reset()
	req := s.request(http.MethodPost, "/api/"+project+"/envelope/", strings.NewReader(envelope(items...)))
	req.Header.Set("X-Sentry-Auth", "Sentry sentry_key="+key+", sentry_version=7, sentry_client="+sdk)
	require.Equal(t, http.StatusOK, s.do(req).status)
	services := map[string]bool{}
	for _, resource := range s.resources() {
		services[resource[semconv.ServiceName].(string)] = true
	}
	require.Len(t, services, 1)
	return slices.Collect(maps.Keys(services))[0]
}

// TestServiceOfReports: what states no release is of the service that the same program has stated
// last, and of no other tenant's.
func TestServiceOfReports(t *testing.T) {
	const key, other, python = testKey, "11111111111111111111111111111111", "sentry.python/2.68.0"
	s := startSignals(t, nil)
	report, oldSession := item("client_report", "", clientReport), item("session", "", strings.Replace(session, `"shop@3.1.0"`, "null", 1))
	event := func(release string) string {
		return item("event", "", strings.Replace(errorEvent, "{", `{"release":"`+release+`",`, 1))
	}
	assert.Equal(t, "sentry-project-1", s.serviceOf(t, "1", key, python, report), "not known yet")
	assert.Equal(t, "shop", s.serviceOf(t, "1", key, python, event("shop@1")))
	assert.Equal(t, "shop", s.serviceOf(t, "1", key, python, report))
	assert.Equal(t, "shop", s.serviceOf(t, "1", key, python, oldSession))
	assert.Equal(t, "shop", s.serviceOf(t, "1", key, python, item("attachment", "", "x")))
	assert.Equal(t, "cart", s.serviceOf(t, "1", key, python, event("cart@1"), item("attachment", "", "x")))
	assert.Equal(t, "cart", s.serviceOf(t, "1", key, python, report), "the last one")

	assert.Equal(t, "sentry-project-2", s.serviceOf(t, "2", key, python, report))
	assert.Equal(t, "sentry-project-1", s.serviceOf(t, "1", other, python, report))
	assert.Equal(t, "sentry-project-1", s.serviceOf(t, "1", key, "sentry.python/2.68.1", report))
	assert.Equal(t, "sentry-project-1", s.serviceOf(t, "1", key, python, item("event", "", errorEvent)), "an event without a release has none")
	assert.Equal(t, "sentry-project-1", s.serviceOf(t, "1", key, python, report), "and its process too")
}

// TestServiceOfOTLP: OTLP whose resource names no service is of the service that the process has
// stated last with its SDK, and of no other tenant's or language's.
func TestServiceOfOTLP(t *testing.T) {
	const ( // as their integrations write it
		python = "Sentry sentry_version=7, sentry_key=%s, sentry_client=sentry.python/2.75.0"
		node   = "Sentry sentry_version=7, sentry_key=%s"
		ruby   = "Sentry sentry_version=7, sentry_client=sentry-ruby.otlp/6.6.2, sentry_timestamp=1777629600, sentry_key=%s"
	)
	s := startSignals(t, nil)
	otlp := func(project, auth, language, name string) map[string]any {
		t.Helper()
		s.traces.Reset()
		req := s.request(http.MethodPost, "/api/"+project+"/integration/otlp/v1/traces/", strings.NewReader(fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[
			{"key":"telemetry.sdk.language","value":{"stringValue":%q}},{"key":"service.name","value":{"stringValue":%q}}]},
			"scopeSpans":[{"spans":[{"traceId":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","spanId":"6f1b2c3d4e5f6071"}]}]}]}`, language, name)))
		req.Header.Set("X-Sentry-Auth", fmt.Sprintf(auth, testKey))
		req.Header.Set("Content-Type", asJSON)
		require.Equal(t, http.StatusOK, s.doOTLP(req).status)
		return s.traces.AllTraces()[0].ResourceSpans().At(0).Resource().Attributes().AsRaw()
	}
	said := func(release, platform, sdk, client string) {
		t.Helper()
		s.serviceOf(t, "1", testKey, client, item("event", "", strings.Replace(errorEvent, "{",
			fmt.Sprintf(`{"release":%q,"environment":"canary","dist":"7","platform":%q,"sdk":{"name":%q,"version":"1"},`, release, platform, sdk), 1)))
	}
	of := func(release, language string) map[string]any {
		name, version, _ := strings.Cut(release, "@")
		return map[string]any{
			"service.name": name, "service.version": version, "deployment.environment.name": "canary", "sentry.release": release, "sentry.dist": "7",
			"telemetry.sdk.language": language, "sentry.project_id": "1",
		}
	}
	unknown := func(project, language string) map[string]any {
		return map[string]any{"service.name": "sentry-project-" + project, "telemetry.sdk.language": language, "sentry.project_id": project}
	}
	assert.Equal(t, unknown("1", "python"), otlp("1", python, "python", "unknown_service"), "not known yet")
	said("shop@1.0", "python", "sentry.python.flask", "sentry.python/2.75.0")
	assert.Equal(t, of("shop@1.0", "python"), otlp("1", python, "python", "unknown_service"))
	assert.Equal(t, of("shop@1.0", "python"), otlp("1", node, "python", "unknown_service"), "an exporter that does not name the SDK")
	assert.Equal(t, unknown("1", "go"), otlp("1", python, "go", "unknown_service"), "another process")
	assert.Equal(t, unknown("1", "nodejs"), otlp("1", node, "nodejs", "unknown_service:node"))
	said("cart@2.0", "node", "sentry.javascript.node", "sentry.javascript.node/11.12.0")
	said("page@3.0", "javascript", "sentry.javascript.browser", "sentry.javascript.browser/11.12.0")
	assert.Equal(t, of("cart@2.0", "nodejs"), otlp("1", node, "nodejs", "unknown_service:node"))
	said("till@4.0", "ruby", "sentry.ruby", "sentry-ruby/6.6.2")
	assert.Equal(t, of("till@4.0", "ruby"), otlp("1", ruby, "ruby", "unknown_service"))
	assert.Equal(t, of("shop@1.0", "python"), otlp("1", python, "python", ""))
	assert.Equal(t, unknown("2", "nodejs"), otlp("2", node, "nodejs", ""), "another tenant's")
	assert.Equal(t, map[string]any{"service.name": "till", "telemetry.sdk.language": "python", "sentry.project_id": "1"}, otlp("1", python, "python", "till"), "stated")
}

// TestServicesAreBounded: invented programs of one project displace only each other.
func TestServicesAreBounded(t *testing.T) {
	var s services
	quiet := program{"1", testKey, "sentry.go/0.50.0"}
	s.saw(quiet, attr.Identity{Release: "shop@1"})
	long := strings.Repeat("x", attr.MaxNameBytes)
	for i := range 10_000 {
		s.saw(program{"2", testKey, fmt.Sprint(long[:200], i)}, attr.Identity{Release: long, Sdk: sentry.ClientSDK{Name: long}})
	}
	assert.LessOrEqual(t, s.all.Size(), int64(maxServices))
	assert.Equal(t, s.all.Len(), len(s.byProgram))
	assert.Equal(t, "shop@1", s.lastOf(quiet).Release)
	assert.Zero(t, s.lastOf(program{"2", testKey, long[:200] + "0"}))
	assert.Equal(t, long, s.lastOf(program{"2", testKey, long[:200] + "9999"}).Release)
}
