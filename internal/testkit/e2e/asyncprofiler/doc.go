// SPDX-License-Identifier: Apache-2.0

// Package asyncprofiler runs async-profiler, from Maven Central, on a Java program: `make
// asyncprofiler`. It also records testdata/otlp/async-profiler.
package asyncprofiler
