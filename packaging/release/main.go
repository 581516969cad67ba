// SPDX-License-Identifier: Apache-2.0

// Command release builds the files of a release: archives with the collector and the tool envelope
// for each platform, Debian and RPM packages, a container image, a Helm chart, a Homebrew formula,
// a bill of materials and checksums. Equal sources and an equal SOURCE_DATE_EPOCH yield equal
// bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const usage = `Usage, in the folder packaging:

  release [-out DIR] [-targets OS/ARCH,...] [-twice] all
  release [-out DIR] -binary FILE deb|rpm|image    a package with this collector, for the architecture of this machine
`

// allTargets are the platforms of a release.
const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64"

// top is the root of the repository.
const top = ".."

func main() {
	log.SetFlags(0)
	r := release{programs: allPrograms}
	targets, binary, twice := "", "", false
	flag.StringVar(&r.out, "out", filepath.Join(top, "dist", "release"), "folder for the results")
	flag.StringVar(&targets, "targets", allTargets, "platforms")
	flag.BoolVar(&twice, "twice", false, "build each binary again, in another folder with an empty cache, and compare the bytes")
	flag.StringVar(&binary, "binary", "", "collector for one package")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage); flag.PrintDefaults() }
	flag.Parse()
	if err := r.run(flag.Args(), targets, binary, twice); err != nil {
		log.Fatalf("release: %v", err)
	}
}

// release is a release that is being built.
type release struct {
	out      string
	programs map[string]string // main packages, by program
	version  string
	time     time.Time // of all files in archives and packages
	notices  string    // path of the licenses of all linked modules
}

func (r *release) run(args []string, targets, binary string, twice bool) (err error) {
	if len(args) != 1 {
		flag.Usage()
		return errors.New("name one thing to build")
	}
	if r.version, err = version(); err != nil {
		return err
	}
	if r.time, err = sourceDate(); err != nil {
		return err
	}
	if err = os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if args[0] != "all" {
		return r.onePackage(args[0], binary)
	}
	platforms, err := parseTargets(targets)
	if err != nil {
		return err
	}
	return r.all(platforms, twice)
}

// all builds a complete release.
func (r *release) all(platforms []target, twice bool) error {
	modules, err := r.linkedModules(platforms)
	if err != nil {
		return err
	}
	r.notices = filepath.Join(r.out, noticesFile)
	if err := r.writeNotices(modules); err != nil {
		return err
	}
	if err := r.writeBOM(modules); err != nil {
		return err
	}
	for _, t := range platforms {
		started := time.Now()
		if err := r.buildPrograms(t); err != nil {
			return err
		}
		log.Printf("%s: built in %.0f s", t, time.Since(started).Seconds())
		if err := r.writeArchive(t); err != nil {
			return err
		}
	}
	if twice {
		if err := r.buildAgain(platforms); err != nil {
			return err
		}
	}
	images := map[target]string{}
	for _, t := range platforms {
		if t.os != "linux" {
			continue
		}
		images[t] = r.program(t, "otelcol-sentry")
		for _, format := range []string{"deb", "rpm"} {
			if err := r.writePackage(format, t, images[t]); err != nil {
				return err
			}
		}
	}
	if err := r.writeImage(images); err != nil {
		return err
	}
	if err := r.writeChart(); err != nil {
		return err
	}
	if err := r.writeFormula(platforms); err != nil {
		return err
	}
	return r.writeChecksums()
}

// onePackage builds a package with an existing collector.
func (r *release) onePackage(format, binary string) error {
	if binary == "" {
		return errors.New("a package needs -binary")
	}
	host := target{"linux", runtime.GOARCH}
	r.programs = map[string]string{"otelcol-sentry": allPrograms["otelcol-sentry"]}
	modules, err := r.linkedModules([]target{host})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	r.notices = filepath.Join(folder, noticesFile)
	if err := r.writeNotices(modules); err != nil {
		return err
	}
	switch format {
	case "image":
		return r.writeImage(map[target]string{host: binary})
	case "deb", "rpm":
		return r.writePackage(format, host, binary)
	}
	return fmt.Errorf("unknown package %q: use deb, rpm or image", format)
}

// version returns the version of the distribution.
func version() (string, error) {
	text, err := os.ReadFile(filepath.Join(top, "builder-config.yaml"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "version: "); found {
			return value, nil
		}
	}
	return "", errors.New("builder-config.yaml has no version")
}

// sourceDate returns the time in SOURCE_DATE_EPOCH
// (https://reproducible-builds.org/docs/source-date-epoch/), or the start of 1980, the first year
// that all archive formats can represent.
func sourceDate() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
