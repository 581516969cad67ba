package transform

import "fmt"

// The presets: steps by the name of what they are for.
const (
	PresetPyroscope = "pyroscope"
	PresetKafka     = "kafka"
	PresetOTLPgRPC  = "otlp_grpc"
)

// Preset returns the steps of a preset, made anew.
func Preset(name string) ([]Step, error) {
	switch name {
	case PresetPyroscope:
		// Pyroscope does not resolve the attributes of resources, makes a series of each set of sample attributes, refuses a
		// value per timestamp and counts timestamps as 1 each. It takes 16,000 samples and 4 MiB per profile.
		return []Step{
			&ResourceToSamples{Attributes: []string{"service.name", "service.version", "deployment.environment.name"}},
			&ActiveThreadOnly{},
			&Aggregate{Unit: UnitNanoseconds},
			&DropAttributes{Samples: []string{
				keyThreadID, keyThreadName, "sentry.thread.priority", "sentry.queue.address", "sentry.queue.label",
			}},
			&Split{MaxSamples: 16_000, MaxBytes: 4_000_000},
		}, nil
	case PresetKafka:
		// Exporter and broker take 1,000,000 and 1,048,588 bytes by default, key and headers included.
		return []Step{&Split{MaxBytes: 900_000}}, nil
	case PresetOTLPgRPC:
		// A gRPC server takes 4 MiB by default.
		return []Step{&Split{MaxBytes: 4_000_000}}, nil
	default:
		return nil, fmt.Errorf("preset: %q is not known; the presets are %s, %s and %s", name, PresetKafka, PresetOTLPgRPC, PresetPyroscope)
	}
}
