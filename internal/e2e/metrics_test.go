// SPDX-License-Identifier: Apache-2.0

package e2e

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

// points are the collector's own metrics at one moment.
type points []point

type point struct {
	name   string
	labels map[string]string
	value  float64
}

var (
	pointLine = regexp.MustCompile(`^([a-zA-Z_:][\w:.]*)(?:\{(.*)\})? (\S+)`)
	pointPair = regexp.MustCompile(`([\w.]+)="((?:[^"\\]|\\.)*)"`)
)

// scrape reads the metrics as Prometheus would.
func (c *collector) scrape(t testing.TB) points {
	t.Helper()
	all, err := c.tryScrape()
	require.NoError(t, err)
	return all
}

// tryScrape is for collectors that may be gone.
func (c *collector) tryScrape() (all points, err error) {
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
		p := point{name: match[1], labels: map[string]string{}}
		for _, pair := range pointPair.FindAllStringSubmatch(match[2], -1) {
			p.labels[pair[1]] = pair[2]
		}
		if p.value, err = strconv.ParseFloat(match[3], 64); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, lines.Err()
}

// sum adds up the points of a metric with these labels, each "name=value".
func (all points) sum(name string, labels ...string) (total int) {
	for _, p := range all {
		if p.name == name && p.has(labels) {
			total += int(p.value)
		}
	}
	return total
}

func (p point) has(labels []string) bool {
	for _, label := range labels {
		name, value, _ := strings.Cut(label, "=")
		if p.labels[name] != value {
			return false
		}
	}
	return true
}
