// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// DefaultProfilerIDAttributes identify a service instance by OpenTelemetry's conventions ("the
// triplet … MUST be unique").
var DefaultProfilerIDAttributes = []string{semconv.ServiceNamespace, semconv.ServiceName, semconv.ServiceInstanceID}

// processAttributes identify a process without service.instance.id: the machine, the process, its
// executable. The first attribute of each list that is present is used, because profilers outside
// the process add others.
var processAttributes = [][]string{
	{semconv.ContainerID, semconv.K8sPodUID, semconv.K8sPodName, semconv.HostID, semconv.HostName},
	{semconv.ProcessPID},
	{semconv.ProcessExecutablePath, semconv.ProcessExecutableName},
	{semconv.ProcessCreationTime}, // if known, because process IDs are reused
}

// ProfilerSession returns the ID of a profiler session for data without one. The exporters of
// profiles and of traces derive the same ID independently. A process has one session for its CPU
// profiles and another one for all others, because a sample lasts until the next one of its thread
// in any profile of the session.
func ProfilerSession(resource pcommon.Map, attributes []string, onCPU bool) string {
	if attributes == nil {
		attributes = DefaultProfilerIDAttributes
	}
	parts := []string{"profiler"}
	if !onCPU {
		parts[0] = "wall profiler"
	}
	add := func(key string) bool {
		value, ok := resource.Get(key)
		if ok {
			parts = append(parts, key, value.AsString())
		}
		return ok
	}
	identified := false
	for _, key := range attributes {
		isService := key == semconv.ServiceNamespace || key == semconv.ServiceName
		identified = add(key) && !isService || identified
	}
	if !identified {
		for _, keys := range processAttributes {
			for _, key := range keys {
				if add(key) {
					break
				}
			}
		}
	}
	return HashID(parts...)
}

// Clocks is a set of profile kinds.
type Clocks struct{ CPU, Wall bool }

func (c *Clocks) Add(onCPU bool) {
	c.CPU = c.CPU || onCPU
	c.Wall = c.Wall || !onCPU
}
