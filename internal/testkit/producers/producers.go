// SPDX-License-Identifier: Apache-2.0

// Package producers is test support: OTLP profiles of other producers, recorded in testdata/otlp or
// made in the form that the source of a producer prescribes.
package producers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// AsyncProfiler returns the recordings of async-profiler 4.5 by engine: a Java program with a
// thread worker-1 that computes and a main thread that mostly sleeps, sampled every 5 ms.
func AsyncProfiler(t testing.TB) map[string]pprofile.Profiles {
	paths, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata", "otlp", "async-profiler", "4.5-*.pb"))
	require.NoError(t, err)
	recorded := map[string]pprofile.Profiles{}
	for _, path := range paths {
		encoded, err := os.ReadFile(path)
		require.NoError(t, err)
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		require.NoError(t, err)
		recorded[strings.TrimSuffix(filepath.Base(path), ".pb")] = p
	}
	require.Len(t, recorded, 4)
	return recorded
}

// EBPFProcesses are the releases of the processes of [EBPFRecording], by process ID.
var EBPFProcesses = map[int64]string{10261: "orders@1.2.0", 10262: "", 10263: "checkout@2.0.1"}

// EBPFRecording returns recordings of the OpenTelemetry eBPF profiler, in order: see
// testdata/otlp/ebpf-profiler/README.md.
func EBPFRecording(t testing.TB) (recorded []pprofile.Profiles) {
	paths, err := filepath.Glob(filepath.Join(golden.Root(t), "testdata", "otlp", "ebpf-profiler", "*.pb"))
	require.NoError(t, err)
	for _, path := range paths {
		encoded, err := os.ReadFile(path)
		require.NoError(t, err)
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		require.NoError(t, err)
		recorded = append(recorded, p)
	}
	require.Len(t, recorded, 7)
	return recorded
}

// EBPFSamples is the number of observations per process in a message of [EBPF].
const EBPFSamples = 40

// EBPF returns a message in the form of the OpenTelemetry eBPF profiler with off-CPU profiling,
// which needs kernel probes: reporter/internal/pdata/generate.go at commit b442421a of August 2026.
// It contains five seconds of some processes of a host, which share one start. Process IDs start at
// 100 and are the same on all hosts; processes are in a container named after the host.
func EBPF(host string, processes int, start uint64) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	for i := range processes {
		resource := p.ResourceProfiles().AppendEmpty()
		attributes := resource.Resource().Attributes()
		attributes.PutStr("container.id", "container-of-"+host)
		attributes.PutInt("process.pid", int64(100+i))
		attributes.PutStr("process.executable.path", "/usr/bin/shop")
		attributes.PutStr("process.executable.name", "shop")
		attributes.PutStr("process.environment_variable.SENTRY_RELEASE", "shop@7")
		scope := resource.ScopeProfiles().AppendEmpty()
		scope.Scope().SetName("otel-ebpf-profiler")
		scope.Scope().SetVersion("v0.0.202634")
		onCPU, offCPU := scope.Profiles().AppendEmpty(), scope.Profiles().AppendEmpty()
		dictionary.SetValueType(onCPU.SampleType(), b.String("samples"), b.String("count"))
		dictionary.SetValueType(onCPU.PeriodType(), b.String("cpu"), b.String("nanoseconds"))
		onCPU.SetPeriod(50_000_000)
		dictionary.SetValueType(offCPU.SampleType(), b.String("off_cpu"), b.String("nanoseconds"))
		for _, profile := range []pprofile.Profile{onCPU, offCPU} {
			profile.SetTime(pcommon.Timestamp(start))
			profile.SetDurationNano(5_000_000_000)
			for thread := range 2 {
				s := profile.Samples().AppendEmpty()
				s.SetStackIndex(int32(ebpfStack(b, thread)))
				dictionary.SetAttributes(s.AttributeIndices(), b.AttrString("thread.name", fmt.Sprint("worker-", thread)),
					b.AttrInt("thread.id", int64(1000+10*i+thread)), b.AttrInt("cpu.logical_number", int64(thread)))
				for n := range EBPFSamples / 2 {
					s.TimestampsUnixNano().Append(start + uint64(n)*100_000_000 + uint64(thread))
				}
			}
		}
		for _, s := range offCPU.Samples().All() { // only off-CPU samples have values
			for range s.TimestampsUnixNano().Len() {
				s.Values().Append(2_000_000)
			}
		}
	}
	b.Finish()
	return p
}

// ebpfStack returns a stack of an interpreted frame on top of a native one that is not symbolized.
func ebpfStack(b *dictionary.Builder, n int) dictionary.StackIndex {
	script := b.Location(dictionary.Location{
		Lines: []dictionary.Line{{Line: 12, Function: b.Function(dictionary.Function{
			Name: b.String(fmt.Sprint("handle_", n)), Filename: b.String("/app/shop.py"),
		})}},
		Attributes: []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "cpython")},
	})
	native := b.Location(dictionary.Location{
		Address: 0x1139, Attributes: []dictionary.AttributeIndex{b.AttrString("profile.frame.type", "native")},
		Mapping: b.Mapping(dictionary.Mapping{
			Start: 0x1000, Limit: 0x2000, Filename: b.String("libpython3.12.so.1.0"),
			Attributes: []dictionary.AttributeIndex{b.AttrString("process.executable.build_id.htlhash", "600dcafe4a110000f2bf38c493f5fb92")},
		}),
	})
	return b.Stack([]dictionary.LocationIndex{script, native})
}
