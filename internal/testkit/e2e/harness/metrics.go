// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bufio"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Metrics are the points of a scrape of the collector's own metrics.
type Metrics []MetricPoint

// MetricPoint is a line of the Prometheus text format.
type MetricPoint struct {
	Name   string
	Labels map[string]string
	value  float64
}

var (
	pointLine = regexp.MustCompile(`^([a-zA-Z_:][\w:.]*)(?:\{(.*)\})? (\S+)`)
	pointPair = regexp.MustCompile(`([\w.]+)="((?:[^"\\]|\\.)*)"`)
)

// Scrape reads the collector's own metrics, as Prometheus does.
func (c *Collector) Scrape(t testing.TB) Metrics {
	t.Helper()
	all, err := c.TryScrape()
	require.NoError(t, err)
	return all
}

// TryScrape is Scrape for a collector that may not be running.
func (c *Collector) TryScrape() (all Metrics, err error) {
	response, err := http.Get("http://" + c.metrics + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		match := pointLine.FindStringSubmatch(lines.Text())
		if match == nil {
			continue
		}
		p := MetricPoint{Name: match[1], Labels: map[string]string{}}
		for _, pair := range pointPair.FindAllStringSubmatch(match[2], -1) {
			p.Labels[pair[1]] = pair[2]
		}
		if p.value, err = strconv.ParseFloat(match[3], 64); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, lines.Err()
}

// Sum adds up the points of a metric with these labels, each "name=value".
func (all Metrics) Sum(name string, labels ...string) (total int) {
	for _, p := range all {
		if p.Name == name && p.has(labels) {
			total += int(p.value)
		}
	}
	return total
}

func (p MetricPoint) has(labels []string) bool {
	for _, label := range labels {
		name, value, _ := strings.Cut(label, "=")
		if p.Labels[name] != value {
			return false
		}
	}
	return true
}
