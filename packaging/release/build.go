// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is a platform, by its Go names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func (t target) env() []string {
	// Without GOFLAGS and GOAMD64 of the environment, everybody builds the same program.
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+t.os, "GOARCH="+t.arch)
}

func parseTargets(list string) (all []target, err error) {
	for name := range strings.SplitSeq(list, ",") {
		system, arch, found := strings.Cut(name, "/")
		if !found {
			return nil, fmt.Errorf("%q is not a platform: use OS/ARCH", name)
		}
		all = append(all, target{system, arch})
	}
	return all, nil
}

// allPrograms are the folders of the main packages, by program. ocb generates the collector's.
var allPrograms = map[string]string{"otelcol-sentry": "dist", "envelope": "cmd/envelope"}

// program returns the path of a built program.
func (r *release) program(t target, name string) string {
	if t.os == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.out, "programs", t.os+"_"+t.arch, name)
}

func (r *release) buildPrograms(t target) error {
	for name, folder := range r.programs {
		out, err := filepath.Abs(r.program(t, name))
		if err != nil {
			return err
		}
		if err := build(filepath.Join(top, folder), out, t.env()); err != nil {
			return fmt.Errorf("build of %s for %s: %w", name, t, err)
		}
	}
	return nil
}

// build compiles the main package in a folder. No path, commit or symbol table of the machine gets
// into the program.
func build(folder, out string, env []string) error {
	command := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, ".")
	command.Dir, command.Env, command.Stderr = folder, env, os.Stderr
	return command.Run()
}

// buildAgain builds all programs from a copy of the sources in another folder, with an empty build
// cache, and compares them.
func (r *release) buildAgain(platforms []target) error {
	work, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	sources := filepath.Join(work, "sources")
	if err := os.Mkdir(sources, 0o755); err != nil {
		return err
	}
	if err := copySources(sources); err != nil {
		return err
	}
	for _, t := range platforms {
		for name, folder := range r.programs {
			again := filepath.Join(work, name)
			env := append(t.env(), "GOCACHE="+filepath.Join(work, "cache"))
			if err := build(filepath.Join(sources, folder), again, env); err != nil {
				return fmt.Errorf("second build of %s for %s: %w", name, t, err)
			}
			if err := equalFiles(r.program(t, name), again); err != nil {
				return fmt.Errorf("%s for %s is not reproducible: %w", name, t, err)
			}
			log.Printf("%s: second build of %s is equal", t, name)
		}
	}
	return nil
}

// copySources copies the files that git knows or does not ignore, and the generated program.
func copySources(to string) error {
	list := `{ git ls-files -co --exclude-standard; ls dist/*.go dist/go.*; } | tar -cf - --ignore-failed-read -T - | tar -xf - -C "$1"`
	command := exec.Command("sh", "-c", list, "sh", to)
	command.Dir, command.Stderr = top, os.Stderr
	return command.Run()
}

func equalFiles(one, other string) error {
	a, err := checksum(one)
	if err != nil {
		return err
	}
	b, err := checksum(other)
	if err != nil {
		return err
	}
	if a != b {
		return fmt.Errorf("SHA-256 %s and %s", a, b)
	}
	return nil
}
