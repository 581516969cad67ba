// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// The names of the presets.
const (
	PresetPyroscope = "pyroscope"
	PresetKafka     = "kafka"
	PresetOTLPgRPC  = "otlp_grpc"
)

// Labels that Grafana and Pyroscope's own agents use.
const (
	labelServiceVersion        = "service_version"
	labelDeploymentEnvironment = "deployment_environment"
)

var presets = map[string]func() []Step{
	// Pyroscope does not resolve resource attributes, creates a series for each set of sample
	// attributes, rejects samples with one value per timestamp, and counts each timestamp as 1. It
	// accepts 16,000 samples and 4 MiB per profile, 30 labels per series (four are its own) and
	// 2048 bytes per label. internal/testkit/fakepyroscope names the source of each rule.
	PresetPyroscope: func() []Step {
		return []Step{
			&ResourceToSamples{FirstOf: map[string][]string{
				semconv.ServiceName:        {semconv.ServiceName, semconv.ProcessExecutableName},
				labelServiceVersion:        {semconv.ServiceVersion},
				labelDeploymentEnvironment: {semconv.DeploymentEnvironmentName, semconv.DeploymentEnvironment},
			}, Integers: true},
			&ActiveThreadOnly{},
			&Aggregate{Unit: UnitNanoseconds, KeepCounts: []string{string(sampletype.CPU)}},
			&ProfileType{},
			&DropAttributes{Samples: []string{
				semconv.ThreadID, semconv.ThreadName, semconv.CPULogicalNumber,
				semconv.SentryThreadPriority, semconv.SentryQueueAddress, semconv.SentryQueueLabel,
			}},
			&Labels{Keep: []string{semconv.ServiceName}, MaxPerSample: 20, MaxValueBytes: 2048},
			&UniqueTimes{},
			&Split{MaxSamples: 16_000, MaxBytes: 4_000_000},
		}
	},
	// By default, the exporter accepts 1,000,000 bytes and the broker 1,048,588 bytes, including
	// key and headers.
	PresetKafka: func() []Step { return []Step{&Split{MaxBytes: 900_000}} },
	// A gRPC server accepts 4 MiB by default.
	PresetOTLPgRPC: func() []Step { return []Step{&Split{MaxBytes: 4_000_000}} },
}

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset returns the steps of a preset.
func Preset(name string) ([]Step, error) {
	steps, known := presets[name]
	if !known {
		return nil, fmt.Errorf("preset: %q is unknown, must be one of %s", name, strings.Join(PresetNames(), ", "))
	}
	return steps(), nil
}
