// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// figure is a ratio that a benchmark reports, with its target. The page has those that say what is
// compared; the others only explain them.
type figure struct {
	benchmark, unit, says string
	asked                 target
}

// figures has all figures in the order of the page.
var figures = []figure{
	{"Receive", "two-pass÷own", "profile JSON to OTLP: `encoding/json` in two passes, as in Sentry's own Go service", atLeast(12, 16)},
	{"Receive", "encoding/json÷own", "the same in one pass", atLeast(7, 9)},
	{"Receive", "goccy-pooled÷own", "goccy/go-json, with reused structs", atLeast(1.5, 2)},
	{"Receive", "sonic-pooled÷own", "bytedance/sonic, with reused structs", atLeast(1.5, 2)},
	{"Receive", "floor÷own", "", nothing},
	{"Android", "translate÷gunzip", "an Android method trace of 3 MB, translated ÷ only gunzipped", atMost(2, 0)},
	{"Android", "android_trace_log÷parse", "the Rust crate of Sentry's Relay ÷ this project's parser", atLeast(1, 0)},
	{"Android", "android_trace_log÷observe", "", nothing},
	{"Collector", "sentry÷otlp", "built collector: a chunk as Sentry JSON ÷ as OTLP, one Sample per stack", atMost(1.6, 1.4)},
	{"Collector", "sentry÷otlp-spread", "÷ as OTLP with one Sample per observation, as most profilers send it", atMost(1, 0)},
	{"Collector", "unread÷otlp", "", nothing},
	{"Whole", "otlp_http-gzip÷receive", "receive, link and export ÷ receive: `otlp_http`, gzip", nothing},
	{"Whole", "otlp_http-fast_gzip÷receive", "`otlp_http`, `fast_gzip`", nothing},
	{"Whole", "otlp_http-zstd÷receive", "`otlp_http`, zstd", nothing},
	{"Whole", "otlp_grpc-gzip÷receive", "`otlp_grpc`, gzip", nothing},
	{"Whole", "sentry_envelope-gzip÷receive", "`sentry_envelope`, gzip", nothing},
	{"Whole", "sentry_envelope-zstd÷receive", "`sentry_envelope`, zstd", nothing},
	{"Tee", "tee÷none", "a request with a tee ÷ without; highest for small requests", atMost(1.25, 1.1)},
	{"Small", "own÷floor", "recorded requests without profiles, from the socket to the pipeline ÷ only inflate them and copy the result", atMost(2, 0)},
	{"Small", "objects÷request", "objects allocated per request", nothing},
	{"Small", "KiB÷request", "KiB allocated per request", nothing},
	{"Allocations", "objects÷samples", "", atMost(0.5, 0.3)},
	{"Allocations", "bytes÷payload", "bytes allocated per byte of JSON", nothing},
	{"Heap", "heap÷payload", "peak heap, with garbage, per byte of a request ten times as large as usual", atMost(2.5, 2)},
	{"Heap", "resident÷payload", "peak memory of the whole process, likewise", nothing},
	{"Heap", "floor÷payload", "", nothing},
	{"Growth", "dearest÷cheapest", "", atMost(1.5, 0)},
	{"Worst", "extreme÷py", "", atMost(2.5, 2)},
	{"Images", "native÷py", "", atMost(3.3, 2)},
	{"Export", "structs÷own", "OTLP to Sentry's JSON: structs with `encoding/json`", atLeast(3.5, 5)},
	{"Export", "floor÷own", "", nothing},
	{"ExportItems", "structs÷own", "the same for logs, metrics and errors", atLeast(3, 0)},
	{"Compress", "std÷gzip", "translate for Sentry and compress: standard gzip ÷ klauspost gzip level 4, as in `fast_gzip`", atLeast(1.5, 2)},
	{"Compress", "std÷zstd", "standard gzip ÷ zstd", atLeast(3.5, 5)},
	{"Compress", "alone÷gzip", "", nothing},
	{"Compress", "alone÷zstd", "", nothing},
	{"Compress", "gzip-bytes÷std", "compressed size: klauspost gzip ÷ standard gzip", atMost(1.1, 1)},
	{"Compress", "zstd-bytes÷std", "compressed size: zstd ÷ standard gzip", atMost(1.1, 1)},
	{"Batch", "batch÷single-gzip", "", atMost(1, 0.8)},
	{"Batch", "batch÷single-zstd", "", atMost(1, 0.8)},
	{"Batch", "whole÷single-gzip", "built collector: messages combined into batches ÷ alone: gzip", atMost(1, 0.8)},
	{"Batch", "whole÷single-zstd", "the same with zstd", atMost(1, 0.8)},
	{"Batch", "batch-bytes÷single", "compressed size with batches ÷ without", atMost(1, 0.5)},
	{"Batch", "floor÷single-gzip", "", nothing},
	{"Batch", "floor÷single-zstd", "", nothing},
	{"Batch", "merge÷single-gzip", "", nothing},
	{"Batch", "merge÷single-zstd", "", nothing},
	{"Link", "link÷unmarshal-result", "link samples, with nearly all split between spans ÷ unmarshal the result", atMost(0.7, 0.5)},
	{"Link", "floor÷unmarshal-result", "", nothing},
	{"Link", "link÷unmarshal", "", nothing},
	{"Items", "encoding/json÷own", "transactions, spans and logs to OTLP: `encoding/json`", atLeast(1, 1.5)},
	{"Items", "goccy÷own", "goccy/go-json", atLeast(1, 0)},
	{"Items", "sonic÷own", "bytedance/sonic", atLeast(1, 0)},
	{"Items", "objects÷elements", "", nothing},
	{"Scrubbing", "scrub÷receive", "default scrubbing ÷ the decoding and translation before it", atMost(0.25, 0.1)},
	{"Symbolicate", "µs÷frame", "µs per frame of a bundle of 24 MB in one line", atMost(3, 1)},
	{"Symbolicate", "large÷small", "", atMost(3, 2)},
}

// optional are the figures that are missing on machines without recordings of Android or without
// cargo. The page keeps their rows.
var optional = []string{"translate÷gunzip", "android_trace_log÷parse", "android_trace_log÷observe"}

// target is the target for a ratio, and a more ambitious one: a minimum or a maximum.
type target struct {
	reach, later float64
	atMost       bool
}

// nothing is the target of figures that only explain others.
var nothing target

func atLeast(reach, later float64) target { return target{reach, later, false} }
func atMost(reach, later float64) target  { return target{reach, later, true} }

// reached reports whether a ratio meets its target, if it has one.
func (t target) reached(ratio float64) bool { return t == nothing || t.met(ratio, t.reach) }

func (t target) met(ratio, bound float64) bool {
	if t.atMost {
		return ratio <= bound
	}
	return ratio >= bound
}

func (t target) String() string {
	sign := "≥"
	if t.atMost {
		sign = "≤"
	}
	switch {
	case t == nothing:
		return ""
	case t.later == 0:
		return fmt.Sprintf("%s %.3g", sign, t.reach)
	}
	return fmt.Sprintf("%s %.3g, then %.3g", sign, t.reach, t.later)
}
