// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// DefaultProfilerIDAttributes identify a service instance by OpenTelemetry's conventions ("the triplet … MUST be unique").
var DefaultProfilerIDAttributes = []string{semconv.ServiceNamespace, semconv.ServiceName, semconv.ServiceInstanceID}

// processAttributes identify a process whose resource has no service.instance.id: the machine, the process, its executable. Of
// each list the first attribute that is present counts: a profiler outside of the process states other ones beside it.
var processAttributes = [][]string{
	{semconv.ContainerID, semconv.K8sPodUID, semconv.K8sPodName, semconv.HostID, semconv.HostName},
	{semconv.ProcessPID},
	{semconv.ProcessExecutablePath, semconv.ProcessExecutableName},
}

// ProfilerSession identifies a profiler session of data that name none. It is the same in the exporter of profiles and in that
// of traces, which know nothing of each other. A process has one session for its profiles of CPU time and another one for all
// others: a sample lasts until the next one of its thread, whatever profile that is from.
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

// Clocks are kinds of profiles.
type Clocks struct{ CPU, Wall bool }

func (c *Clocks) Add(onCPU bool) {
	c.CPU = c.CPU || onCPU
	c.Wall = c.Wall || !onCPU
}
