// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"fmt"
	"math"
	"strings"
)

// Cost is the measured cost of a profile, see docs/load.md.
type Cost struct {
	CPU   float64 // seconds of one core to receive and export it
	Bytes float64 // after compression
}

// Demand is the data of a deployment, per second.
type Demand struct{ Profiles, Spans float64 }

// Plan is the deployment for a demand.
type Plan struct {
	Cores        int     // of the receiving collectors, and of the linking ones
	Collectors   int     // linking collectors of coresPerCollector
	IndexBytes   float64 // of one linking collector
	Partitions   int
	NetworkBytes float64 // into Kafka, per second
}

// The assumptions of the calculator; the page states them.
const (
	utilization            = 0.5 // of the cores: the rest is for peaks, and for the work of a collector that is down
	coresPerCollector      = 4
	partitionsPerCollector = 4
	keepSpans              = 300 // seconds, the default of link::keep_spans
	spanBytes              = 100 // of a span in Kafka
)

// Calculate returns the deployment for a demand.
func Calculate(c Cost, d Demand) (p Plan) {
	p.Cores = int(math.Ceil(d.Profiles * c.CPU / utilization))
	p.Collectors = (p.Cores + coresPerCollector - 1) / coresPerCollector
	p.IndexBytes = d.Spans * keepSpans * bytesPerSpan / float64(p.Collectors)
	p.Partitions = partitionsPerCollector * p.Collectors
	p.NetworkBytes = d.Profiles*c.Bytes + d.Spans*spanBytes
	return p
}

// Table returns the deployments for demands as a Markdown table.
func Table(c Cost, demands []Demand) string {
	var text strings.Builder
	text.WriteString("| Profiles/s | Spans/s | Cores per tier | Linking collectors | Index per collector | Partitions | Into Kafka |\n|---|---|---|---|---|---|---|\n")
	for _, d := range demands {
		p := Calculate(c, d)
		fmt.Fprintf(&text, "| %.0f | %.0f | %d | %d | %s | %d | %s/s |\n", d.Profiles, d.Spans, p.Cores, p.Collectors, bytesText(p.IndexBytes),
			p.Partitions, bytesText(p.NetworkBytes))
	}
	return text.String()
}

func bytesText(n float64) string {
	unit := ""
	for _, unit = range []string{"kB", "MB", "GB"} {
		if n /= 1000; n < 1000 {
			break
		}
	}
	if n < 10 {
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}
