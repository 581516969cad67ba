// SPDX-License-Identifier: Apache-2.0

package custombuild

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const (
	module  = "github.com/otelcol-sentry/otelcol-sentry"
	version = "v0.1.0"
)

// proxy is a module proxy in a folder. It serves the checkout as a version; all other modules are
// those of the machine.
//
// https://go.dev/ref/mod#goproxy-protocol
type proxy struct{ folder, modules string }

func newProxy(t *testing.T) proxy {
	p := proxy{folder: t.TempDir(), modules: t.TempDir()}
	folder := filepath.Join(p.folder, module, "@v")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	write := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o644))
	}
	gomod, err := os.ReadFile(filepath.Join(golden.Root(t), "go.mod"))
	require.NoError(t, err)
	write("list", []byte(version+"\n"))
	write(version+".info", []byte(`{"Version":"`+version+`"}`))
	write(version+".mod", gomod)

	out, err := os.Create(filepath.Join(folder, version+".zip"))
	require.NoError(t, err)
	defer out.Close()
	archive := zip.NewWriter(out)
	for _, name := range files(t) {
		w, err := archive.Create(module + "@" + version + "/" + name)
		require.NoError(t, err)
		text, err := os.ReadFile(filepath.Join(golden.Root(t), name))
		require.NoError(t, err)
		_, err = w.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return p
}

// files returns the files of the module: those in the checkout, without those of nested modules.
func files(t *testing.T) (all []string) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = golden.Root(t)
	output, err := list.Output()
	if err != nil {
		t.Skipf("not a checkout of git: %v", err)
	}
	names := strings.Split(strings.TrimRight(string(output), "\x00"), "\x00")
	nested := map[string]bool{}
	for _, name := range names {
		if folder, file := path.Split(name); file == "go.mod" && folder != "" {
			nested[folder] = true
		}
	}
names:
	for _, name := range names {
		for folder := range nested {
			if strings.HasPrefix(name, folder) {
				continue names
			}
		}
		if _, err := os.Stat(filepath.Join(golden.Root(t), name)); err == nil || !os.IsNotExist(err) {
			all = append(all, name)
		}
	}
	return all
}

// command returns a command of Go that uses only the proxy and modules on this machine, in a module
// cache of its own.
func (p proxy) command(t *testing.T, folder string, arguments ...string) *exec.Cmd {
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	downloaded := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOPROXY=file://"+p.folder+",file://"+downloaded, "GOMODCACHE="+p.modules,
		"GOFLAGS=-modcacherw -buildvcs=false", // so that the test can remove the cache
		"GOSUMDB=off", "GOWORK=off")           // the sums of the other modules were checked when they were downloaded
	return command
}

func (p proxy) run(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	output, err := p.command(t, folder, arguments...).CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(arguments, " "), output)
	return string(output)
}

// copyExample copies a folder of the repository.
func copyExample(t *testing.T, name string) string {
	target := t.TempDir()
	source := filepath.Join(golden.Root(t), name)
	require.NoError(t, filepath.WalkDir(source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "otelcol-custom" { // an earlier build
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(target, relative), 0o755)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, relative), text, 0o644)
	}))
	return target
}
