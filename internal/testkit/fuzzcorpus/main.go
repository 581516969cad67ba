// SPDX-License-Identifier: Apache-2.0

// Fuzzcorpus copies useful inputs of fuzzers from Go's build cache to testdata/fuzz of their
// package, see `make corpus`. An input is useful if it reaches code that no smaller input and no
// stored one reaches. `go test` runs the stored inputs, and fuzzers start with them.
//
// Only the fuzzer knows how much new code an input reaches. With GODEBUG=fuzzdebug=1, it logs this
// while it reads its corpus, in the order of the names.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Of one fuzzer, in bytes and in files: so much is read, and run, with every `go test`.
const (
	maxKept   = 200_000
	maxInputs = 100
)

func main() {
	log.SetFlags(0)
	cache := filepath.Join(output("go", "env", "GOCACHE"), "fuzz")
	work, err := os.MkdirTemp("", "corpus")
	check(err)
	defer os.RemoveAll(work)
	for line := range strings.Lines(output("go", "list", "-f", "{{.ImportPath}} {{.Dir}}", "./...")) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		found, err := os.ReadDir(filepath.Join(cache, path))
		if err != nil {
			continue // never fuzzed
		}
		binary := filepath.Join(work, "test")
		output("go", "test", "-c", "-fuzz=.", "-o", binary, path)
		for _, fuzzer := range found {
			f := fuzzer.Name()
			if outputIn(folder, binary, "-test.list", "^"+f+"$") != "" {
				keep(folder, binary, f, filepath.Join(cache, path, f), filepath.Join(work, path))
			}
		}
	}
}

type input struct {
	name string
	text []byte
	bits int // how much new code it reaches
}

// keep copies the useful inputs of one fuzzer. It tries inputs in the order of their sizes. If
// there are too many, it keeps those that reach the most code.
func keep(folder, binary, fuzzer, found, work string) {
	target := filepath.Join(folder, "testdata", "fuzz", fuzzer)
	before, size := read(target), 0
	known := map[string]bool{}
	for _, kept := range before {
		size += len(kept.text)
		known[string(kept.text)] = true
	}
	candidates := slices.DeleteFunc(read(found), func(c input) bool { return known[string(c.text)] })
	slices.SortFunc(candidates, func(a, b input) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.name, b.name))
	})

	seeds := len(newBits(folder, binary, fuzzer, work))
	check(os.MkdirAll(filepath.Join(work, fuzzer), 0o700))
	for i, c := range candidates {
		check(os.WriteFile(filepath.Join(work, fuzzer, fmt.Sprintf("%06d", i)), c.text, 0o600))
	}
	bits := newBits(folder, binary, fuzzer, work)
	if len(bits) != seeds+len(candidates) {
		log.Fatalf("%s: %d of %d inputs are also seeds: go clean -fuzzcache", fuzzer, seeds+len(candidates)-len(bits), len(candidates))
	}
	for i := range candidates {
		candidates[i].bits = bits[seeds+i]
	}
	added := 0
	slices.SortStableFunc(candidates, func(a, b input) int { return cmp.Compare(b.bits, a.bits) })
	for _, c := range candidates {
		if c.bits > 0 && size+len(c.text) <= maxKept && len(before)+added < maxInputs {
			check(os.MkdirAll(target, 0o755))
			check(os.WriteFile(filepath.Join(target, c.name), c.text, 0o644))
			size += len(c.text)
			added++
		}
	}
	log.Printf("%-24s %3d of %4d inputs are new and kept: %3d in all, %d bytes", fuzzer, added, len(candidates), len(before)+added, size)
}

func read(folder string) (list []input) {
	entries, _ := os.ReadDir(folder) // none is none
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		check(err)
		list = append(list, input{name: e.Name(), text: text})
	}
	return list
}

var (
	corpusSize = regexp.MustCompile(`gathering baseline coverage: 0/(\d+) `)
	initial    = regexp.MustCompile(`processed an initial input, .*new bits: (\d+),`)
)

// newBits runs a fuzzer over its seeds and the inputs in a cache, and returns how much new code
// each reaches.
func newBits(folder, binary, fuzzer, cache string) (bits []int) {
	run := func(times string) string {
		return outputIn(folder, binary, "-test.run", "^$", "-test.fuzz", "^"+fuzzer+"$", "-test.fuzztime", times, "-test.parallel", "1", "-test.fuzzcachedir", cache)
	}
	size := corpusSize.FindStringSubmatch(run("1x"))
	if size == nil {
		log.Fatalf("%s does not say how many inputs it has", fuzzer)
	}
	for _, match := range initial.FindAllStringSubmatch(run(size[1]+"x"), -1) {
		n, _ := strconv.Atoi(match[1])
		bits = append(bits, n)
	}
	return bits
}

func output(command string, args ...string) string { return outputIn("", command, args...) }

func outputIn(folder, command string, args ...string) string {
	var out bytes.Buffer
	run := exec.Command(command, args...)
	run.Dir, run.Stdout, run.Stderr = folder, &out, &out
	run.Env = append(os.Environ(), "GODEBUG=fuzzdebug=1")
	if err := run.Run(); err != nil {
		log.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out.String())
	}
	return strings.TrimSpace(out.String())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
