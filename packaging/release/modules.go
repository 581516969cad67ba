// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-licenses/v2/licenses"
)

// noticesFile contains the licenses of all linked modules.
const noticesFile = "THIRD-PARTY-NOTICES.txt"

// module is a Go module with packages that a program contains.
type module struct {
	path, version string
	dir           string
	files         map[string]bool // paths of licenses and notices that apply to its packages
	licenses      []string        // SPDX names
}

const ownModule = "github.com/otelcol-sentry/otelcol-sentry"

// linkedModules returns the foreign modules in the programs for all platforms, by path and version.
// Programs may have different versions of a module. The first is Go itself.
func (r *release) linkedModules(platforms []target) ([]*module, error) {
	all := map[string]*module{}
	for _, t := range platforms {
		for _, folder := range r.programs {
			if err := addModules(all, t, filepath.Join(top, folder)); err != nil {
				return nil, fmt.Errorf("modules for %s: %w", t, err)
			}
		}
	}
	modules := slices.SortedFunc(maps.Values(all), func(a, b *module) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.version, b.version))
	})
	root, err := goRoot()
	if err != nil {
		return nil, err
	}
	modules = slices.Insert(modules, 0, &module{
		path: "std", version: strings.TrimPrefix(runtime.Version(), "go"), files: map[string]bool{filepath.Join(root, "LICENSE"): true},
	})
	return modules, identify(modules)
}

// addModules adds the modules of a program, with the licenses in the folders of its packages and
// above.
func addModules(all map[string]*module, t target, folder string) error {
	list := exec.Command("go", "list", "-deps", "-json=Dir,Module,Standard", ".")
	list.Dir, list.Env, list.Stderr = folder, t.env(), os.Stderr
	output, err := list.Output()
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p struct {
			Dir      string
			Standard bool
			Module   *struct{ Path, Version, Dir string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Standard || p.Module == nil || strings.HasPrefix(p.Module.Path, ownModule) {
			continue
		}
		key := p.Module.Path + "@" + p.Module.Version
		m := all[key]
		if m == nil {
			m = &module{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir, files: map[string]bool{}}
			all[key] = m
		}
		candidates, err := licenses.FindCandidates(p.Dir, p.Module.Dir)
		if err != nil {
			return err
		}
		for _, file := range candidates {
			if legalText.MatchString(filepath.Base(file)) {
				m.files[file] = true
			}
		}
	}
}

// legalText excludes README files and Go files, which go-licenses accepts as candidates.
var legalText = regexp.MustCompile(`(?i)^((UN)?LICEN[SC]E|COPYING|NOTICE)([-_.][a-z0-9_-]*)*$`)

// notLinked are licenses of parts that a module's license file mentions and its Go packages do not
// contain.
var notLinked = map[string][]string{
	"github.com/apache/thrift": {"FSFAP"}, // a macro for autoconf
}

// identify finds the licenses of modules, and rejects modules without one and those that may not be
// part of an Apache-2.0 program.
func identify(modules []*module) error {
	classifier, err := licenses.NewClassifier()
	if err != nil {
		return err
	}
	var problems []error
	for _, m := range modules {
		for _, file := range slices.Sorted(maps.Keys(m.files)) {
			found, err := classifier.Identify(file)
			if err != nil {
				return err
			}
			for _, l := range found {
				if slices.Contains(notLinked[m.path], l.Name) {
					continue
				}
				if !slices.Contains(m.licenses, l.Name) {
					m.licenses = append(m.licenses, l.Name)
				}
				switch l.Type {
				case licenses.Restricted, licenses.ByExceptionOnly, licenses.Forbidden: // reciprocal ones such as MPL-2.0 allow linking
					problems = append(problems, fmt.Errorf("%s: license %s in %s", m.path, l.Name, file))
				}
			}
		}
		if len(m.licenses) == 0 {
			problems = append(problems, fmt.Errorf("%s: no license found", m.path))
		}
	}
	return errors.Join(problems...)
}

// writeNotices writes all licenses and notices. A text that several modules share appears once.
func (r *release) writeNotices(modules []*module) error {
	users := map[string][]string{} // modules by text
	var texts []string
	for _, m := range modules {
		for _, file := range slices.Sorted(maps.Keys(m.files)) {
			body, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(body), "\r\n", "\n"))
			if users[text] == nil {
				texts = append(texts, text)
			}
			if name := m.path + " " + m.version; !slices.Contains(users[text], name) {
				users[text] = append(users[text], name)
			}
		}
	}
	return writeFile(r.notices, func(w io.Writer) error {
		for _, text := range texts {
			if _, err := fmt.Fprintf(w, "%s\n%s\n\n%s\n\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text); err != nil {
				return err
			}
		}
		return nil
	})
}

func goRoot() (string, error) {
	output, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(output)), err
}
