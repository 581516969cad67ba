// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// figure is a ratio that a benchmark reports, with its target.
type figure struct {
	benchmark, unit string
	asked           target
}

// figures has all figures in the order of the tables.
var figures = []figure{
	{"Receive", "two-pass÷own", atLeast(12, 16)},
	{"Receive", "encoding/json÷own", atLeast(7, 9)},
	{"Receive", "goccy-pooled÷own", atLeast(1.5, 2)},
	{"Receive", "sonic-pooled÷own", atLeast(1.5, 2)},
	{"Receive", "jx-columns÷own", atLeast(1.5, 2)},
	{"Receive", "floor÷own", nothing},
	{"Decode", "serde-two-pass÷own", atLeast(2.5, 4)},
	{"Decode", "check÷own", nothing},
	{"Gzip", "whole÷inflate", atMost(7, 5)},
	{"Android", "translate÷gunzip", atMost(2, 0)},
	{"Android", "android_trace_log÷parse", atLeast(1, 0)},
	{"Android", "android_trace_log÷observe", nothing},
	{"Collector", "sentry÷otlp", atMost(1.6, 1.4)},
	{"Collector", "sentry÷otlp-spread", atMost(1, 0)},
	{"Collector", "unread÷otlp", nothing},
	{"Whole", "otlp_http-gzip÷receive", nothing},
	{"Whole", "otlp_http-fast_gzip÷receive", nothing},
	{"Whole", "otlp_http-zstd÷receive", nothing},
	{"Whole", "otlp_grpc-gzip÷receive", nothing},
	{"Whole", "sentry_envelope-gzip÷receive", nothing},
	{"Whole", "sentry_envelope-zstd÷receive", nothing},
	{"Tee", "tee÷none", atMost(1.25, 1.1)},
	{"Allocations", "objects÷samples", atMost(0.5, 0.3)},
	{"Allocations", "bytes÷payload", nothing},
	{"Heap", "heap÷payload", atMost(2.5, 2)},
	{"Heap", "resident÷payload", nothing},
	{"Heap", "floor÷payload", nothing},
	{"Growth", "dearest÷cheapest", atMost(1.5, 0)},
	{"Worst", "extreme÷py", atMost(2.5, 2)},
	{"Images", "native÷py", atMost(3.3, 2)},
	{"Export", "structs÷own", atLeast(3.5, 5)},
	{"Export", "floor÷own", nothing},
	{"ExportItems", "structs÷own", atLeast(3, 0)},
	{"Compress", "std÷gzip", atLeast(1.5, 2)},
	{"Compress", "std÷zstd", atLeast(3.5, 5)},
	{"Compress", "alone÷gzip", nothing},
	{"Compress", "alone÷zstd", nothing},
	{"Compress", "gzip-bytes÷std", atMost(1.1, 1)},
	{"Compress", "zstd-bytes÷std", atMost(1.1, 1)},
	{"Batch", "batch÷single-gzip", atMost(1, 0.8)},
	{"Batch", "batch÷single-zstd", atMost(1, 0.8)},
	{"Batch", "whole÷single-gzip", atMost(1, 0.8)},
	{"Batch", "whole÷single-zstd", atMost(1, 0.8)},
	{"Batch", "batch-bytes÷single", atMost(1, 0.5)},
	{"Batch", "floor÷single-gzip", nothing},
	{"Batch", "floor÷single-zstd", nothing},
	{"Batch", "merge÷single-gzip", nothing},
	{"Batch", "merge÷single-zstd", nothing},
	{"Link", "link÷unmarshal-result", atMost(0.7, 0.5)},
	{"Link", "floor÷unmarshal-result", nothing},
	{"Link", "link÷unmarshal", nothing},
	{"Items", "encoding/json÷own", atLeast(1, 1.5)},
	{"Items", "goccy÷own", atLeast(1, 0)},
	{"Items", "sonic÷own", atLeast(1, 0)},
	{"Items", "objects÷elements", nothing},
	{"Scrubbing", "scrub÷receive", atMost(0.25, 0.1)},
	{"Symbolicate", "µs÷frame", atMost(3, 1)},
	{"Symbolicate", "large÷small", atMost(3, 2)},
}

// optional are the figures that are missing on machines without recordings of Android or without
// cargo.
var optional = []string{"translate÷gunzip", "android_trace_log÷parse", "android_trace_log÷observe", "serde-two-pass÷own", "check÷own", "whole÷inflate"}

// optionalBlocks belong to benchmarks that consist of optional figures. Without them, these blocks
// stay unchanged.
var optionalBlocks = []string{"Android", "Decode", "Gzip"}

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
