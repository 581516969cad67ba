// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/listing"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const many = 2*listing.PageSize + 50

// filled returns a store with many services, each with a profile and a trace of its own. Their
// sizes differ.
func filled(t *testing.T) *store.Store {
	t.Helper()
	s, arrived := store.New(64<<20, time.Hour), time.Now().Add(-time.Minute)
	for i := range many {
		at := arrived.Add(time.Duration(i) * time.Millisecond)
		n := (i*31)%many + 1
		service := fmt.Sprintf("service %03d", i)
		samples := timelinetest.Sample{Thread: 1, Stack: "main", At: make([]time.Duration, 1+n%5)}
		samples.At[0] = time.Duration(n) * time.Millisecond
		if i%3 == 0 {
			samples.Span = byte((i + 1) % 200)
		}
		_, err := s.AddProfiles(t.Context(), timelinetest.Message(service, timelinetest.Wall, samples), at)
		require.NoError(t, err)
		_, err = s.AddTraces(t.Context(), oneTrace(i, service, n), at)
		require.NoError(t, err)
	}
	return s
}

func oneTrace(i int, service string, n int) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	for j := range 1 + n%4 {
		span := spans.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{14: byte((i + 1) >> 8), 15: byte(i + 1)})
		span.SetSpanID(pcommon.SpanID{7: byte(j + 1)})
		span.SetName(fmt.Sprintf("GET /%03d", n))
		span.SetStartTimestamp(timelinetest.Start)
		span.SetEndTimestamp(pcommon.Timestamp(timelinetest.Start + n*1000))
		if j > 0 && n%2 == 0 {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
	}
	return traces
}

// pages returns a list from all of its pages.
func pages[T any](t *testing.T, query string, columns []string, page func(listing.Query) ([]T, int)) (all []T) {
	t.Helper()
	for {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		values.Set("offset", fmt.Sprint(len(all)))
		q, err := listing.Parse(values, columns...)
		require.NoError(t, err)
		list, count := page(q)
		if all = append(all, list...); len(list) == 0 || len(all) == count {
			assert.Equal(t, count, len(all), query)
			return all
		}
	}
}

// checkOrders checks that each column of a list sorts it in both directions, on all pages.
func checkOrders[T any](t *testing.T, columns []string, orders map[string]func(T) string, page func(listing.Query) ([]T, int)) {
	t.Helper()
	for _, column := range columns {
		column = strings.TrimPrefix(column, "-")
		key := orders[column]
		require.NotNil(t, key, column)
		for _, prefix := range []string{"", "-"} {
			var keys []string
			for _, entry := range pages(t, "sort="+prefix+column, columns, page) {
				keys = append(keys, key(entry))
			}
			assert.Equal(t, many, len(keys), column)
			sorted := slices.Sorted(slices.Values(keys))
			if prefix == "-" {
				slices.Reverse(sorted)
			}
			assert.True(t, slices.Equal(sorted, keys), "%s%s", prefix, column)
		}
	}
}

func padded(n int) string { return fmt.Sprintf("%020d", n) }

func TestProfiles(t *testing.T) {
	c := Of(filled(t), 1)
	page := func(q listing.Query) ([]ProfileListing, int) { out := c.Profiles(q); return out.Profiles, out.Count }
	checkOrders(t, ProfileColumns, map[string]func(ProfileListing) string{
		"arrived":  func(p ProfileListing) string { return arrivedKey(t, p.Arrived) },
		"name":     func(p ProfileListing) string { return append(p.Traces, p.Service)[0] },
		"service":  func(p ProfileListing) string { return p.Service },
		"start":    func(p ProfileListing) string { return p.Start },
		"duration": func(p ProfileListing) string { return padded(int(p.Duration)) },
		"samples":  func(p ProfileListing) string { return padded(int(p.Samples)) },
		"threads":  func(p ProfileListing) string { return padded(p.Threads) },
		"spans":    func(p ProfileListing) string { return padded(p.Spans) },
	}, page)
	one := pages(t, "q=SERVICE+007", ProfileColumns, page)
	require.Len(t, one, 1)
	assert.Equal(t, "service 007", one[0].Service)
	named := pages(t, "q=get+/", ProfileColumns, page)
	assert.NotEmpty(t, named, "by the names of their traces")
	for _, p := range named {
		assert.NotEmpty(t, p.Traces)
	}
	assert.Len(t, pages(t, "service=service+123", ProfileColumns, page), 1)
	assert.Empty(t, pages(t, "service=other", ProfileColumns, page))
}

func TestTraces(t *testing.T) {
	c := Of(filled(t), 1)
	page := func(q listing.Query) ([]TraceListing, int) { out := c.Traces(q); return out.Traces, out.Count }
	checkOrders(t, TraceColumns, map[string]func(TraceListing) string{
		"arrived":  func(l TraceListing) string { return arrivedKey(t, l.Arrived) },
		"name":     func(l TraceListing) string { return l.Name },
		"start":    func(l TraceListing) string { return l.Start },
		"duration": func(l TraceListing) string { return padded(int(l.Duration)) },
		"spans":    func(l TraceListing) string { return padded(l.Spans) },
		"errors":   func(l TraceListing) string { return padded(l.Errors) },
		"logs":     func(l TraceListing) string { return padded(l.Logs) },
		"profiles": func(l TraceListing) string { return padded(l.Profiles) },
	}, page)
	assert.Len(t, pages(t, "q=get+/033", TraceColumns, page), 1)
	assert.Len(t, pages(t, "q=service+033", TraceColumns, page), 1)
	assert.Len(t, pages(t, "q="+strings.Repeat("0", 28)+"0021", TraceColumns, page), 1, "by ID")
}

func TestServices(t *testing.T) {
	s := filled(t)
	metrics := pmetric.NewMetrics()
	resource := metrics.ResourceMetrics().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "only metrics")
	metric := resource.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	metric.SetName("memory")
	metric.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	c := Of(s, 1)
	page := func(q listing.Query) ([]ServiceAnswer, int) { out := c.Services(q); return out.Services, out.Count }
	checkOrders(t, ServiceColumns, map[string]func(ServiceAnswer) string{
		"name":     func(l ServiceAnswer) string { return l.Name },
		"profiles": func(l ServiceAnswer) string { return padded(l.Profiles) },
		"traces":   func(l ServiceAnswer) string { return padded(l.Traces) },
		"errors":   func(l ServiceAnswer) string { return padded(l.Errors) },
		"logs":     func(l ServiceAnswer) string { return padded(l.Logs) },
		"points":   func(l ServiceAnswer) string { return padded(l.Points) },
		"arrived":  func(l ServiceAnswer) string { return arrivedKey(t, l.Arrived) },
	}, page)
	_, err := s.AddMetrics(t.Context(), metrics, time.Now())
	require.NoError(t, err)
	c = Of(s, 1)
	found := pages(t, "q=only", ServiceColumns, page)
	require.Len(t, found, 1)
	assert.Equal(t, 1, found[0].Points)
	largest := c.LargestServices()
	assert.Equal(t, many+1, largest.Count)
	assert.Len(t, largest.Services, listing.PageSize)
}

func arrivedKey(t *testing.T, text string) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return padded(int(at.UnixNano()))
}
