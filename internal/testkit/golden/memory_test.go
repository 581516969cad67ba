// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestPackagedMemory: the limits of each packaged configuration, summed as docs/operations.md says,
// fit into the GOMEMLIMIT of the package.
func TestPackagedMemory(t *testing.T) {
	type section = map[string]struct {
		MaxBytesInFlight int `yaml:"max_bytes_in_flight"`
		MaxBytes         int `yaml:"max_bytes"`
		Link             struct {
			MaxHeldBytes  int `yaml:"max_held_bytes"`
			MaxIndexBytes int `yaml:"max_index_bytes"`
		}
	}
	for name, goMemLimit := range map[string]int{"image": 819, "linux": 1024} {
		text, err := os.ReadFile(filepath.Join(Root(t), "packaging", name, "config.yaml"))
		require.NoError(t, err)
		var config struct{ Receivers, Processors, Exporters, Extensions section }
		require.NoError(t, yaml.Unmarshal(text, &config))
		or := func(set, otherwise int) int {
			if set == 0 {
				return otherwise << 20
			}
			return set
		}
		link := config.Processors["profile_transform"].Link
		sum := 50<<20 + or(config.Receivers["sentry"].MaxBytesInFlight, 320) +
			or(link.MaxHeldBytes, 128)*13/10 + or(link.MaxIndexBytes, 150) + 256<<20 + or(config.Exporters["profile_viewer"].MaxBytes, 128)*5/4
		if _, otlp := config.Receivers["otlp"]; otlp {
			sum += or(config.Extensions["otlp_limit"].MaxBytesInFlight, 128)
		}
		t.Logf("%s: %d of %d MiB", name, sum>>20, goMemLimit)
		assert.LessOrEqual(t, sum>>20, goMemLimit, name)
		if name == "image" {
			for _, page := range []string{"docs/operations.md", "packaging/README.md"} {
				text, err := os.ReadFile(filepath.Join(Root(t), page))
				require.NoError(t, err)
				assert.True(t, strings.Contains(string(text), fmt.Sprintf("%d MiB", sum>>20)), "%s states the sum", page)
			}
		}
	}
}
