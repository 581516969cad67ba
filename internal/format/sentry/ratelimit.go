// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Category is a data category, the unit of Sentry's rate limits.
//
// https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/#definitions
type Category string

// Categories of the data that SDKs send (relay-base-schema/src/data_category.rs), and "metric",
// which only JavaScript knows.
const (
	CategoryDefault           Category = "default"
	CategoryError             Category = "error"
	CategoryTransaction       Category = "transaction"
	CategorySpan              Category = "span"
	CategoryLogItem           Category = "log_item"
	CategoryLogByte           Category = "log_byte"
	CategoryTraceMetric       Category = "trace_metric"
	CategoryTraceMetricByte   Category = "trace_metric_byte"
	CategoryMetric            Category = "metric"
	CategoryMetricBucket      Category = "metric_bucket"
	CategoryProfile           Category = "profile"
	CategoryProfileChunk      Category = "profile_chunk"
	CategoryProfileChunkUI    Category = "profile_chunk_ui"
	CategoryProfileDuration   Category = "profile_duration"
	CategoryProfileDurationUI Category = "profile_duration_ui"
	CategoryAttachment        Category = "attachment"
	CategoryAttachmentItem    Category = "attachment_item"
	CategorySession           Category = "session"
	CategoryMonitor           Category = "monitor"
	CategoryFeedback          Category = "feedback"
	CategoryReplay            Category = "replay"
	CategorySecurity          Category = "security"
)

// stopCategories lists the item types for which SDKs use categories other than those of Relay. To
// stop such an item in every SDK, a header must name all categories listed for it. For all other
// types, ItemType.Category is enough.
var stopCategories = []struct {
	item     ItemType
	category Category
	obeyedBy string
}{
	// JavaScript counts chunks as "profile": a limit on profile_chunk alone had no effect on Node
	// 10.
	{ItemProfileChunk, CategoryProfile, "javascript"},
	{ItemProfileChunk, CategoryProfileChunk, "python, java"},
	{ItemProfileChunk, CategoryProfileChunkUI, "java (either one stops it), cocoa"},
	{ItemTraceMetric, CategoryTraceMetric, "python, java, cocoa"},
	{ItemTraceMetric, CategoryMetric, "javascript"},
	{ItemUserReport, CategoryFeedback, "by the specification"},
	{ItemUserReport, CategoryDefault, "javascript"},
}

// StoppedBy returns the categories that a rate limit must name so that every SDK stops sending
// items of these types. It returns each category once, in an order that depends only on the order
// of types. Types without a category are ignored. An empty result means that these types cannot be
// stopped; a limit without categories would stop everything.
func StoppedBy(types ...ItemType) []Category {
	var categories []Category
	add := func(c Category) {
		if c != "" && !slices.Contains(categories, c) {
			categories = append(categories, c)
		}
	}
	for _, t := range types {
		if t == ItemProfileChunkUI {
			t = ItemProfileChunk
		}
		listed := false
		for _, stop := range stopCategories {
			if stop.item == t {
				add(stop.category)
				listed = true
			}
		}
		if !listed {
			add(t.Category())
		}
	}
	return categories
}

// HeaderRateLimits is the response header with rate limits, which is valid with any status. An SDK
// that receives a 429 without it pauses every category, including errors, for at least a minute.
const HeaderRateLimits = "X-Sentry-Rate-Limits"

// Scopes, and the reason in the limits that this collector sets.
const (
	ScopeOrganization = "organization"
	ScopeProject      = "project"
	ScopeKey          = "key"

	RateLimitBackpressure = "backpressure"
)

// RateLimit is one limit in the header.
//
//	60:profile;profile_chunk;profile_chunk_ui:key:backpressure
//	2700:metric_bucket:organization:quota_exceeded:custom
//
// https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/
type RateLimit struct {
	Seconds    int        // from now
	Categories []Category // empty = every category
	Scope      string     // ScopeKey, …; clients ignore it
	Reason     string     // for humans; clients ignore it
	Namespaces []string   // of metric_bucket only
}

// String returns the limit in the format of the header. Seconds are an integer, because Python
// skips limits with other numbers. Bytes with a meaning in the grammar of the header become "_".
func (l RateLimit) String() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(max(l.Seconds, 0)))
	b.WriteByte(':')
	writeList(&b, l.Categories)
	b.WriteByte(':')
	writeToken(&b, l.Scope)
	if l.Reason != "" || len(l.Namespaces) > 0 {
		b.WriteByte(':')
		writeToken(&b, l.Reason)
	}
	if len(l.Namespaces) > 0 {
		b.WriteByte(':')
		writeList(&b, l.Namespaces)
	}
	return b.String()
}

func writeList[T ~string](b *strings.Builder, words []T) {
	for i, word := range words {
		if i > 0 {
			b.WriteByte(';')
		}
		writeToken(b, string(word))
	}
}

func writeToken(b *strings.Builder, word string) {
	for i := range len(word) {
		if c := word[i]; c <= ' ' || c >= 0x7f || c == ':' || c == ';' || c == ',' {
			b.WriteByte('_')
		} else {
			b.WriteByte(c)
		}
	}
}

// FormatRateLimits returns the value of the header, or "" if there are no limits.
func FormatRateLimits(limits ...RateLimit) string {
	texts := make([]string, len(limits))
	for i, limit := range limits {
		texts[i] = limit.String()
	}
	return strings.Join(texts, ", ")
}

// ParseRateLimits reads the header as tolerantly as SDKs do:
//   - it rounds a fraction of a second up, reads an invalid number as DefaultRetrySeconds, like
//     JavaScript, and limits the number to MaxRetrySeconds;
//   - it keeps unknown categories, which cover no known one;
//   - it stops after maxRateLimits;
//   - text without a colon is no limit, and a list of separators only limits nothing, while an
//     empty list limits everything.
func ParseRateLimits(header string) []RateLimit {
	var limits []RateLimit
	for text := range strings.SplitSeq(header, ",") {
		if len(limits) == maxRateLimits {
			break
		}
		retry, rest, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		list, rest, _ := strings.Cut(rest, ":")
		scope, rest, _ := strings.Cut(rest, ":")
		reason, rest, _ := strings.Cut(rest, ":")
		namespaces, _, _ := strings.Cut(rest, ":")

		limit := RateLimit{
			Seconds:    retrySeconds(strings.TrimSpace(retry)),
			Categories: splitList[Category](list),
			Scope:      strings.TrimSpace(scope),
			Reason:     strings.TrimSpace(reason),
			Namespaces: splitList[string](namespaces),
		}
		if len(limit.Categories) == 0 && strings.TrimSpace(list) != "" {
			continue
		}
		limits = append(limits, limit)
	}
	return limits
}

// maxRateLimits bounds the limits of a header. Sentry sends at most one per category and scope.
const maxRateLimits = 100

func splitList[T ~string](list string) []T {
	var words []T
	for word := range strings.SplitSeq(list, ";") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, T(word))
		}
	}
	return words
}

func retrySeconds(text string) int {
	seconds, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsInf(seconds, 1), seconds > MaxRetrySeconds:
		return MaxRetrySeconds
	case err != nil, math.IsNaN(seconds):
		return DefaultRetrySeconds
	}
	return int(math.Ceil(max(seconds, 0)))
}
