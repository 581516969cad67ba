// SPDX-License-Identifier: Apache-2.0

package metadatatest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// entry is an entry of OpenTelemetry's registry, with the fields that its schema allows.
//
// https://github.com/open-telemetry/opentelemetry.io/blob/main/data/registry-schema.json
type entry struct {
	Title        string
	RegistryType string `yaml:"registryType"`
	Language     string
	Tags         []string
	License      string
	Description  string
	Authors      []struct{ Name, Email, URL string }
	URLs         struct{ Repo, Docs, Website, Blog string } `yaml:"urls"`
	CreatedAt    string                                     `yaml:"createdAt"`
	IsNative     bool                                       `yaml:"isNative"`
	IsFirstParty bool                                       `yaml:"isFirstParty"`
	Package      struct {
		Registry, Name, Version string
		QuickInstall            bool `yaml:"quickInstall"`
	}
}

// TestRegistry: the entries for OpenTelemetry's registry follow its schema, and each component has
// one.
func TestRegistry(t *testing.T) {
	root := golden.Root(t)
	folder := filepath.Join(root, "docs", "registry")
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	var described []string
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		var e entry
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		require.NoError(t, decoder.Decode(&e), file.Name())
		assert.NotEmpty(t, e.Title, file.Name())
		assert.NotEmpty(t, e.Description, file.Name())
		assert.Contains(t, []string{"exporter", "extension", "processor", "receiver", "utilities"}, e.RegistryType, file.Name())
		assert.Contains(t, []string{"collector", "go"}, e.Language, file.Name())
		assert.Contains(t, []string{"go-collector", "go"}, e.Package.Registry, file.Name())
		assert.Equal(t, "Apache 2.0", e.License, file.Name())
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(e.Tags))), len(e.Tags), "%s: a tag occurs twice", file.Name())
		require.NotEmpty(t, e.Authors, file.Name())
		for _, author := range e.Authors {
			assert.NotContains(t, author.Name, "OpenTelemetry", file.Name())
			assert.Regexp(t, "^https://", author.URL, file.Name())
		}
		_, err = time.Parse(time.DateOnly, e.CreatedAt)
		assert.NoError(t, err, file.Name())

		_, path, ok := strings.Cut(e.URLs.Repo, "/tree/main/")
		require.True(t, ok, file.Name())
		assert.DirExists(t, filepath.Join(root, path), file.Name())
		if e.Language == "collector" {
			m := read(t, filepath.Join(root, path))
			assert.Equal(t, m.DisplayName, e.Title, file.Name())
			assert.Equal(t, m.Status.Class, e.RegistryType, file.Name())
			assert.Equal(t, "collector-"+m.Status.Class+"-"+strings.TrimSuffix(path, m.Status.Class)+".yml", file.Name())
			described = append(described, path)
		}
	}
	components, err := filepath.Glob(filepath.Join(root, "*", "metadata.yaml"))
	require.NoError(t, err)
	for i, component := range components {
		components[i] = filepath.Base(filepath.Dir(component))
	}
	assert.ElementsMatch(t, components, described, "components with an entry")
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changes)
	require.NotNil(t, newest)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		assert.Contains(t, string(text), "version: v"+string(newest[1])+"\n", file.Name())
	}
}
