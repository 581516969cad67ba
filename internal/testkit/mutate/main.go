// SPDX-License-Identifier: Apache-2.0

// Command mutate changes the code in one place at a time and runs the tests of its package. A
// change that no test detects is a survivor: it has no effect, or shows a gap in the tests. The
// command changes no file (go test -overlay).
//
//	go run ./internal/testkit/mutate -n 200 -seed 1 ./internal/... ./sentryreceiver
//
// The same seed selects the same sites in the same code. Changes that do not compile do not count.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	sites   = flag.Int("n", 200, "number of `sites` to change")
	seed    = flag.Uint64("seed", 1, "seed of the choice of sites")
	timeout = flag.Duration("timeout", 3*time.Minute, "of the tests of a package; a change after which they do not end is detected")
	only    = flag.String("only", "", "`regexp` of a line of the output, file:line and the change; make all that match, whatever the seed")
)

// skipped are packages that only tests use.
var skipped = regexp.MustCompile(`/(demo|testkit|[a-z]+test)(/|$)`)

func main() {
	log.SetFlags(0)
	flag.Parse()
	module, root, _ := strings.Cut(strings.TrimSpace(run("go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")), " ")
	var all []mutation
	for line := range strings.Lines(run("go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}} {{join .GoFiles \" \"}}"}, flag.Args()...)...)) {
		fields := strings.Fields(line)
		if skipped.MatchString(fields[0]) {
			continue
		}
		for _, file := range fields[2:] {
			all = append(all, mutationsIn(fields[0], filepath.Join(fields[1], file))...)
		}
	}
	if *only != "" {
		pattern := regexp.MustCompile(*only)
		all = slices.DeleteFunc(all, func(m mutation) bool { return !pattern.MatchString(m.place(root) + ": " + m.what) })
		*sites = len(all)
	} else {
		rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	fmt.Printf("%d possible changes; seed %d\n", len(all), *seed)
	counts := map[string]*count{}
	sum := &count{}
	for _, m := range all {
		if sum.killed+sum.survived == *sites {
			break
		}
		begin := time.Now()
		result := m.test()
		fmt.Printf("%-8s %s: %s (%.0f s)\n", result, m.place(root), m.what, time.Since(begin).Seconds())
		if counts[m.pkg] == nil {
			counts[m.pkg] = &count{}
		}
		counts[m.pkg].add(result)
		sum.add(result)
	}
	fmt.Println("\n| package | killed | survived |\n|---|---:|---:|")
	for _, pkg := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("| %s | %d | %d |\n", strings.TrimPrefix(pkg, module+"/"), counts[pkg].killed, counts[pkg].survived)
	}
	fmt.Printf("| all | %d | %d |\n", sum.killed, sum.survived)
}

type count struct{ killed, survived int }

func (c *count) add(result string) {
	switch result {
	case "killed":
		c.killed++
	case "SURVIVED":
		c.survived++
	}
}

func (m *mutation) place(root string) string {
	name, _ := filepath.Rel(root, m.file)
	return fmt.Sprintf("%s:%d", filepath.ToSlash(name), m.line)
}

// test runs the tests of the package with the change.
func (m *mutation) test() string {
	folder, err := os.MkdirTemp("", "mutate")
	check(err)
	defer os.RemoveAll(folder)
	text, err := os.ReadFile(m.file)
	check(err)
	changed := filepath.Join(folder, "changed.go")
	check(os.WriteFile(changed, slices.Concat(text[:m.from], []byte(m.text), text[m.to:]), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	check(err)
	check(os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600))
	var out bytes.Buffer
	tests := exec.Command("go", "test", "-count=1", "-failfast", "-vet=off", "-p", "1", "-timeout", timeout.String(),
		"-overlay", filepath.Join(folder, "overlay.json"), m.pkg)
	tests.Env = append(os.Environ(), "TESTS=") // the small size
	tests.Stdout, tests.Stderr = &out, &out
	switch err := tests.Run(); {
	case err == nil:
		return "SURVIVED"
	case strings.Contains(out.String(), "[build failed]") || strings.Contains(out.String(), "[setup failed]"):
		return "invalid"
	}
	return "killed"
}

func run(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	check(err)
	return string(out)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
