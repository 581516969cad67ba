// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var linux = target{"linux", "amd64"}

// TestMain runs the tests in the folder in which the command runs.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// TestReproducible: the tool has the same bytes if it is built from a copy of the sources in
// another folder, with an empty cache. `make release` checks all programs for all platforms in this
// way.
func TestReproducible(t *testing.T) {
	if os.Getenv("TESTS") != "full" {
		t.Skip("compiles everything twice")
	}
	r := &release{out: t.TempDir(), programs: map[string]string{"envelope": allPrograms["envelope"]}}
	require.NoError(t, r.buildPrograms(linux))
	program, err := os.ReadFile(r.program(linux, "envelope"))
	require.NoError(t, err)
	folder, err := filepath.Abs(top)
	require.NoError(t, err)
	assert.NotContains(t, string(program), folder, "paths of this machine")
	require.NoError(t, r.buildAgain([]target{linux}))

	require.NoError(t, os.WriteFile(r.program(linux, "envelope"), append(program, 0), 0o755))
	assert.ErrorContains(t, equalFiles(r.program(linux, "envelope"), os.Args[0]), "SHA-256")
}

// TestModules: the notices and the bill of materials have every module that the programs say they
// contain, with its license.
func TestModules(t *testing.T) {
	collector := os.Getenv("OTELCOL_SENTRY_BIN")
	if collector == "" {
		collector = filepath.Join(top, "dist", "otelcol-sentry")
	}
	info, err := buildinfo.ReadFile(collector)
	if err != nil {
		t.Skip("no collector (make build)")
	}
	r := &release{out: t.TempDir(), programs: allPrograms, version: "1.2.3"}
	r.notices = filepath.Join(r.out, noticesFile)
	modules, err := r.linkedModules([]target{{"linux", runtime.GOARCH}})
	require.NoError(t, err)
	require.NoError(t, r.writeNotices(modules))
	require.NoError(t, r.writeBOM(modules))

	text, err := os.ReadFile(filepath.Join(r.out, "otelcol-sentry_1.2.3.cdx.json"))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "FSFAP", "the license of a file that no program contains")
	var bom cyclonedx.BOM
	require.NoError(t, json.Unmarshal(text, &bom))
	licenses := map[string]*cyclonedx.Licenses{}
	for _, c := range *bom.Components {
		licenses[c.PackageURL] = c.Licenses
	}
	notices, err := os.ReadFile(r.notices)
	require.NoError(t, err)
	require.Greater(t, len(info.Deps), 100)
	for _, m := range info.Deps {
		if m.Path == ownModule {
			continue
		}
		require.NotNil(t, licenses["pkg:golang/"+m.Path+"@"+m.Version], m.Path)
		assert.NotEmpty(t, *licenses["pkg:golang/"+m.Path+"@"+m.Version], m.Path)
		assert.Contains(t, string(notices), "\n"+m.Path+" "+m.Version+"\n")
	}
	page, err := os.ReadFile(filepath.Join(top, "profileviewerexporter", "assets", "licenses.txt"))
	require.NoError(t, err)
	for text := range strings.SplitSeq(string(page), "\n"+strings.Repeat("-", 80)+"\n\n") {
		heading := strings.Fields(text)
		assert.Contains(t, licenses, "pkg:npm/"+heading[0]+"@"+heading[1], "the viewer's page")
	}
	assert.Contains(t, string(notices), "\nstd "+strings.TrimPrefix(runtime.Version(), "go")+"\n", "Go's own license")
}

// TestLicensePolicy rejects modules without a license, and those with one that would bind the whole
// program.
func TestLicensePolicy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "LICENSE")
	require.NoError(t, os.WriteFile(file, []byte("All rights reserved."), 0o644))
	err := identify([]*module{{path: "example.com/none", files: map[string]bool{file: true}}})
	assert.ErrorContains(t, err, "example.com/none: no license found")
}

// TestFormula: the Homebrew formula names the archives with their checksums, and installs files
// that they contain.
func TestFormula(t *testing.T) {
	r := &release{out: t.TempDir(), programs: allPrograms, version: "1.2.3"}
	r.notices = filepath.Join(r.out, noticesFile)
	require.NoError(t, os.WriteFile(r.notices, []byte("notices"), 0o644))
	platforms, err := parseTargets(allTargets)
	require.NoError(t, err)
	for _, p := range platforms {
		for name := range r.programs {
			require.NoError(t, os.MkdirAll(filepath.Dir(r.program(p, name)), 0o755))
			require.NoError(t, os.WriteFile(r.program(p, name), []byte(p.String()), 0o755))
		}
		require.NoError(t, r.writeArchive(p))
	}
	path := filepath.Join(r.out, "otelcol-sentry.rb")
	require.NoError(t, r.writeFormula(platforms[1:]))
	require.NoFileExists(t, path, "a platform is missing")
	require.NoError(t, r.writeFormula(platforms))

	formula, err := os.ReadFile(path)
	require.NoError(t, err)
	archives := regexp.MustCompile(`url "https://`+ownModule+`/releases/download/v1\.2\.3/(\S+)"\n +sha256 "(\S+)"\n`).FindAllStringSubmatch(string(formula), -1)
	require.Len(t, archives, 4)
	for _, archive := range archives {
		file := filepath.Join(r.out, archive[1])
		sum, err := checksum(file)
		require.NoError(t, err)
		assert.Equal(t, sum, archive[2])
		for _, list := range regexp.MustCompile(`\.install (.*)`).FindAllStringSubmatch(string(formula), -1) {
			for name := range strings.SplitSeq(list[1], ", ") {
				assert.Contains(t, filesIn(t, file), strings.Trim(name, `"`))
			}
		}
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		output, err := exec.Command(ruby, "-c", path).CombinedOutput()
		assert.NoError(t, err, "%s", output)
	}
}

// TestChartArchive: helm reads the archive of the chart, which has the version of the distribution.
func TestChartArchive(t *testing.T) {
	if os.Getenv("TESTS") != "full" {
		t.Skip("compiles helm")
	}
	r := &release{out: t.TempDir()}
	var err error
	r.version, err = version()
	require.NoError(t, err)
	require.NoError(t, r.writeChart())
	archive := filepath.Join(r.out, "otelcol-sentry-"+r.version+".tgz")
	for _, file := range filesIn(t, archive) {
		assert.NotContains(t, file, "/ci/")
	}
	output, err := exec.Command("go", "tool", "helm", "show", "chart", archive).CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "\nversion: "+r.version+"\n")
	output, err = exec.Command("go", "tool", "helm", "template", "shop", archive, "--kube-version", "1.30.0", "--set", "exporters.otlp_http.config.endpoint=http://backend:4318").CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "kind: StatefulSet")
}

// filesIn returns the names of the files in an archive.
func filesIn(t *testing.T, path string) (names []string) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	require.NoError(t, err)
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		names = append(names, header.Name)
	}
}
