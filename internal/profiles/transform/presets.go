// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// The names of the presets.
const (
	PresetPyroscope = "pyroscope"
	PresetKafka     = "kafka"
	PresetOTLPgRPC  = "otlp_grpc"
)

var presets = map[string]func() []Step{
	// Pyroscope does not resolve the attributes of resources, makes a series of each set of sample
	// attributes, refuses a value per timestamp and counts timestamps as 1 each. It takes 16,000
	// samples and 4 MiB per profile.
	PresetPyroscope: func() []Step {
		return []Step{
			&ResourceToSamples{Attributes: []string{semconv.ServiceName, semconv.ServiceVersion, semconv.DeploymentEnvironmentName}},
			&ActiveThreadOnly{},
			&Aggregate{Unit: UnitNanoseconds},
			&DropAttributes{Samples: []string{
				semconv.ThreadID, semconv.ThreadName, semconv.SentryThreadPriority, semconv.SentryQueueAddress, semconv.SentryQueueLabel,
			}},
			&Split{MaxSamples: 16_000, MaxBytes: 4_000_000},
		}
	},
	// Exporter and broker take 1,000,000 and 1,048,588 bytes by default, key and headers included.
	PresetKafka: func() []Step { return []Step{&Split{MaxBytes: 900_000}} },
	// A gRPC server takes 4 MiB by default.
	PresetOTLPgRPC: func() []Step { return []Step{&Split{MaxBytes: 4_000_000}} },
}

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset returns new steps of a preset.
func Preset(name string) ([]Step, error) {
	steps, known := presets[name]
	if !known {
		return nil, fmt.Errorf("preset: %q is unknown, must be one of %s", name, strings.Join(PresetNames(), ", "))
	}
	return steps(), nil
}
