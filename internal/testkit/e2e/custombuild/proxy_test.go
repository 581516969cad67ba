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

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

const (
	module  = "github.com/otelcol-sentry/otelcol-sentry"
	version = "v0.1.0"
)

// proxy is a module proxy in a folder. It serves the checkout as a version. All other modules come
// from where the machine gets its modules, and are stored in its module cache, see newModules.
//
// https://go.dev/ref/mod#goproxy-protocol
type proxy struct{ folder, modules string }

func newProxy(t *testing.T) proxy {
	p := proxy{folder: t.TempDir(), modules: newModules(t)}
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
		harness.Missing(t, "git with a checkout", "clone the repository")
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

// newModules returns a module cache that shares the content of the machine's, except this module:
// its version of the test must not remain on the machine.
func newModules(t *testing.T) string {
	cache, modules := goEnv(t, "GOMODCACHE"), t.TempDir()
	host, rest, _ := strings.Cut(module, "/")
	owner, _, _ := strings.Cut(rest, "/")
	for _, folder := range []struct{ name, except string }{
		{"", host}, {host, owner}, {"cache/download", host}, {"cache/download/" + host, owner},
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(modules, folder.name), 0o755))
		require.NoError(t, os.MkdirAll(filepath.Join(cache, folder.name), 0o755))
		entries, err := os.ReadDir(filepath.Join(cache, folder.name))
		require.NoError(t, err)
		for _, entry := range entries {
			if name := entry.Name(); name != folder.except && name != "cache" {
				require.NoError(t, os.Symlink(filepath.Join(cache, folder.name, name), filepath.Join(modules, folder.name, name)))
			}
		}
	}
	return modules
}

// command returns a command of Go that uses the proxy. It compiles as ocb and releases do, to share
// their build cache: with paths that do not depend on the folder.
func (p proxy) command(t *testing.T, folder string, arguments ...string) *exec.Cmd {
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOMODCACHE="+p.modules, "GOWORK=off", "CGO_ENABLED=0",
		"GOPROXY=file://"+p.folder+","+goEnv(t, "GOPROXY"),
		"GONOPROXY=none", "GONOSUMDB="+strings.TrimPrefix(goEnv(t, "GONOSUMDB")+","+module, ","),
		"GOFLAGS=-modcacherw -trimpath -buildvcs=false") // so that the test can remove the cache
	return command
}

// builder runs the OpenTelemetry Collector Builder.
func (p proxy) builder(t *testing.T, folder string, arguments ...string) (string, error) {
	build := exec.Command("go", "tool", "-modfile="+filepath.Join(golden.Root(t), "tools", "go.mod"), "-n", "builder")
	build.Dir = golden.Root(t)
	path, err := build.Output() // -n prints the path of the built tool
	require.NoError(t, err)
	run := p.command(t, folder)
	run.Path, run.Args = strings.TrimSpace(string(path)), append([]string{"builder"}, arguments...)
	output, err := run.CombinedOutput()
	return string(output), err
}

func goEnv(t *testing.T, name string) string {
	value, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(value))
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
