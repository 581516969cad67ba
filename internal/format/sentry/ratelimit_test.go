// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStoppedBy(t *testing.T) {
	tests := []struct {
		types []ItemType
		want  []Category
	}{
		{[]ItemType{ItemProfile}, []Category{"profile"}},
		{[]ItemType{ItemProfileChunk}, []Category{"profile", "profile_chunk", "profile_chunk_ui"}},
		{[]ItemType{ItemProfileChunkUI}, []Category{"profile", "profile_chunk", "profile_chunk_ui"}},
		{[]ItemType{ItemProfileChunk, ItemProfile}, []Category{"profile", "profile_chunk", "profile_chunk_ui"}},
		{[]ItemType{ItemTransaction, ItemSpan}, []Category{"transaction", "span"}},
		{[]ItemType{ItemTraceMetric}, []Category{"trace_metric", "metric"}},
		{[]ItemType{ItemSession, ItemSessions}, []Category{"session"}},
		{[]ItemType{ItemEvent, ItemLog, ItemUserReport}, []Category{"error", "log_item", "feedback", "default"}},
		{[]ItemType{ItemClientReport, "vroom"}, nil},
		{nil, nil},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, StoppedBy(test.types...), test.types)
	}
	for _, stop := range stopCategories {
		assert.True(t, stop.item.Known())
		assert.NotEmpty(t, stop.obeyedBy)
	}
}

func TestRateLimitString(t *testing.T) {
	tests := []struct {
		limit RateLimit
		want  string
	}{
		{RateLimit{Seconds: 5, Categories: StoppedBy(ItemProfile, ItemProfileChunk), Scope: ScopeKey, Reason: RateLimitBackpressure},
			"5:profile;profile_chunk;profile_chunk_ui:key:backpressure"},
		{RateLimit{Seconds: 60, Scope: ScopeOrganization}, "60::organization"},
		{RateLimit{Seconds: 60, Categories: []Category{"metric_bucket"}, Scope: ScopeOrganization, Namespaces: []string{"custom", "spans"}},
			"60:metric_bucket:organization::custom;spans"},
		{RateLimit{Seconds: -1, Categories: []Category{"error"}}, "0:error:"},
		{RateLimit{Seconds: 1, Categories: []Category{"a;b:c,d"}, Scope: "x\r\ny", Reason: "ü \x7f"}, "1:a_b_c_d:x__y:____"},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, test.limit.String())
	}
	assert.Equal(t, "1:error:key, 2::key", FormatRateLimits(
		RateLimit{Seconds: 1, Categories: []Category{"error"}, Scope: "key"}, RateLimit{Seconds: 2, Scope: "key"}))
	assert.Empty(t, FormatRateLimits())
}

func TestParseRateLimits(t *testing.T) {
	tests := []struct {
		header string
		want   []RateLimit
	}{
		{"60:transaction:key, 2700:default;error;security:organization", []RateLimit{
			{Seconds: 60, Categories: []Category{"transaction"}, Scope: "key"},
			{Seconds: 2700, Categories: []Category{"default", "error", "security"}, Scope: "organization"},
		}},
		{"60::organization", []RateLimit{{Seconds: 60, Scope: "organization"}}},
		{"2700:metric_bucket:organization::custom", []RateLimit{
			{Seconds: 2700, Categories: []Category{"metric_bucket"}, Scope: "organization", Namespaces: []string{"custom"}},
		}},
		{"2700:metric_bucket:organization:quota_exceeded:custom;spans:more:things", []RateLimit{
			{Seconds: 2700, Categories: []Category{"metric_bucket"}, Scope: "organization", Reason: "quota_exceeded", Namespaces: []string{"custom", "spans"}},
		}},
		{" 60 : error ; ; made_up : key : why ,", []RateLimit{
			{Seconds: 60, Categories: []Category{"error", "made_up"}, Scope: "key", Reason: "why"},
		}},
		{"60:error", []RateLimit{{Seconds: 60, Categories: []Category{"error"}}}},
		{"1.2:a:b,0:a:b,-5:a:b,1e1:a:b", []RateLimit{
			{Seconds: 2, Categories: []Category{"a"}, Scope: "b"}, {Seconds: 0, Categories: []Category{"a"}, Scope: "b"},
			{Seconds: 0, Categories: []Category{"a"}, Scope: "b"}, {Seconds: 10, Categories: []Category{"a"}, Scope: "b"},
		}},
		{"soon:a:b,:a:b,NaN:a:b", []RateLimit{
			{Seconds: DefaultRetrySeconds, Categories: []Category{"a"}, Scope: "b"},
			{Seconds: DefaultRetrySeconds, Categories: []Category{"a"}, Scope: "b"},
			{Seconds: DefaultRetrySeconds, Categories: []Category{"a"}, Scope: "b"},
		}},
		{"1e300:a:b,1e999:a:b,Inf:a:b,9999999:a:b", []RateLimit{
			{Seconds: MaxRetrySeconds, Categories: []Category{"a"}, Scope: "b"}, {Seconds: MaxRetrySeconds, Categories: []Category{"a"}, Scope: "b"},
			{Seconds: MaxRetrySeconds, Categories: []Category{"a"}, Scope: "b"}, {Seconds: MaxRetrySeconds, Categories: []Category{"a"}, Scope: "b"},
		}},
		{"60:;:key", nil},
		{"", nil},
		{"60", nil},
		{", ,", nil},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, ParseRateLimits(test.header), "%q", test.header)
	}
}

func FuzzRateLimits(f *testing.F) {
	f.Add("60:profile;profile_chunk:key:backpressure, 2700:metric_bucket:organization::custom")
	f.Add("soon:;x:,1e9::")
	f.Fuzz(func(t *testing.T, header string) {
		limits := ParseRateLimits(header)
		require.LessOrEqual(t, len(limits), strings.Count(header, ",")+1)
		for _, limit := range limits {
			require.GreaterOrEqual(t, limit.Seconds, 0)
			require.LessOrEqual(t, limit.Seconds, MaxRetrySeconds)
		}
		// Written once, the header is in the grammar and stays as it is.
		written := FormatRateLimits(limits...)
		require.Equal(t, written, FormatRateLimits(ParseRateLimits(written)...))
	})
}

// TestRateLimitsAreBounded: a header of ten megabytes becomes as many limits as Sentry could mean.
func TestRateLimitsAreBounded(t *testing.T) {
	assert.Len(t, ParseRateLimits(strings.Repeat("1:error:key,", 10<<20/12)), maxRateLimits)
}
