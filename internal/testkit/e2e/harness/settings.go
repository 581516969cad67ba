// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"fmt"
	"net"
	"strings"
)

// Settings select the collector's configuration. Without Config it is: Sentry in, OTLP out.
type Settings struct {
	Sink        *Sink
	Receiver    []string // additional lines of the receiver's section
	Signals     []string // signals with a pipeline besides profiles: traces, logs, metrics
	Queue       bool     // the exporter has a queue; without one a 200 means delivered
	QueueSize   int      // requests; 0 = the default
	MemoryLimit int      // MiB at which the collector is killed; 0 = memoryKill

	// Config replaces the generated configuration. ENDPOINT in it stands for the address of the
	// Sentry receiver.
	Config string
}

// OtherSignals are all signals except profiles.
var OtherSignals = []string{"traces", "logs", "metrics"}

// text returns the configuration file.
func (s Settings) text(c *Collector) string {
	if s.Config != "" {
		return strings.ReplaceAll(s.Config, "ENDPOINT", c.Address)
	}
	var pipelines []string
	for _, signal := range s.Signals {
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
%s`, c.Address, indent(s.Receiver), s.Sink.URL(), s.Queue, s.Queue, cmp.Or(s.QueueSize, 1000), indent(pipelines))
}

// ownMetrics returns a second configuration file, which serves the collector's own metrics for
// Scrape.
func ownMetrics(c *Collector) string {
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
