// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"fmt"
	"net"
	"strings"
)

// settings are what tests vary in the collector's configuration.
type settings struct {
	sink      *sink
	receiver  []string // more lines of the receiver's section
	signals   []string // pipelines beside that of profiles: traces, logs, metrics
	queue     bool     // the exporter has a queue; without one a 200 means delivered
	queueSize int      // requests; 0 = the default
	limit     int      // MiB of data that the kernel allows the collector; 0 = memoryKill

	config string // instead of all that: the configuration, in which ENDPOINT is where a Sentry receiver is to listen
}

// otherSignals are all but profiles.
var otherSignals = []string{"traces", "logs", "metrics"}

// text is the configuration file: Sentry in, OTLP out.
func (s settings) text(c *collector) string {
	if s.config != "" {
		return strings.ReplaceAll(s.config, "ENDPOINT", c.address)
	}
	var pipelines []string
	for _, signal := range s.signals {
		pipelines = append(pipelines, signal+": {receivers: [sentry], exporters: [otlp_http]}")
	}
	return fmt.Sprintf(`
receivers:
  sentry:
    endpoint: %s
%s
exporters:
  otlp_http:
    endpoint: %s
    compression: none
    timeout: 60s
    retry_on_failure: {enabled: %t, initial_interval: 100ms}
    sending_queue: {enabled: %t, num_consumers: 1, queue_size: %d}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
%s`, c.address, indent(s.receiver), s.sink.url(), s.queue, s.queue, cmp.Or(s.queueSize, 1000), indent(pipelines))
}

// ownMetrics is a second configuration file: the collector's own metrics, for the accounting.
func ownMetrics(c *collector) string {
	host, port, _ := net.SplitHostPort(c.metrics)
	return fmt.Sprintf(`
service:
  telemetry:
    logs: {disable_zap_resource: true}
    metrics:
      level: detailed
      readers:
        - pull:
            exporter:
              prometheus:
                host: %s
                port: %s
                without_type_suffix: true
                without_units: true
                without_scope_info: true
`, host, port)
}

func indent(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
