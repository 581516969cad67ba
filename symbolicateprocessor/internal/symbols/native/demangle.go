// SPDX-License-Identifier: Apache-2.0

package native

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/swift"
)

// A mangled name of C++ is a program: it refers to its parts, repeats expressions for the elements
// of packs, and parses casts again. The library limits only the length of its output, so the steps
// are estimated before each of its two stages: from the text, and from the syntax tree.

const (
	// maxMangled bounds names that are demangled. Of 164,000 names in the libraries of Debian, the
	// longest has 604 bytes.
	maxMangled = 2 << 10

	// maxDemangling bounds the estimated steps of a name. The mean of those names has 400, and 3
	// have more than this.
	maxDemangling = 1 << 20

	// demanglingPerByte is the number of steps for all names of a file, per byte of the file. When
	// they are used up, the remaining names stay mangled.
	demanglingPerByte = 16
	minDemangling     = 1 << 22

	// stepsPerEncoding is the cost of an encoding, relative to the other parts of a name.
	stepsPerEncoding = 4
)

// demangler demangles the names of a file.
type demangler struct {
	work  *symbols.Work
	steps allowance.Allowance // estimated
}

func newDemangler(work *symbols.Work, size int64) *demangler {
	return &demangler{work, allowance.Of(minDemangling + demanglingPerByte*int(size))}
}

// demangle returns the name of a function of C++, Rust or Swift without the types of parameters:
// profiles have no use for them. Names that would need too many steps are returned as they are.
func (d *demangler) demangle(name string) (shown string, err error) {
	if !isMangled(name) || len(name) > maxMangled || !d.spend(stepsOfText(name)) {
		return name, nil
	}
	if err := d.work.Step(len(name)); err != nil {
		return name, err
	}
	defer func() {
		if recover() != nil { // a defect of the library
			shown, err = name, nil
		}
	}()
	if shown, ok := swift.Demangle(name); ok {
		return shown, nil
	}
	plain := withoutVersion(name)
	if strings.HasPrefix(plain, "_R") || isOldRust(plain) {
		return demangle.Filter(plain, options...), nil
	}
	tree, err := demangle.ToAST(plain, options...)
	if err != nil || !d.spend(stepsOfTree(tree)) {
		return name, nil
	}
	return demangle.ASTToString(tree, options...), nil
}

var options = []demangle.Option{demangle.NoParams, demangle.NoEnclosingParams, demangle.MaxLength(maxDemangled)}

func (d *demangler) spend(steps int64) bool {
	return steps <= maxDemangling && d.steps.Spend(int(steps))
}

// isMangled reports whether a name can be one of C++, Rust or Swift.
func isMangled(name string) bool { return name != "" && (name[0] == '_' || name[0] == '$') }

// isOldRust reports whether a name ends with the hash of Rust before version 0 of its mangling.
func isOldRust(name string) bool {
	return strings.HasPrefix(name, "_ZN") && strings.Contains(name, "17h")
}

// stepsOfText estimates the steps of parsing a name. Every encoding (Z) simplifies the tree of what
// it contains; a cast (cv) can parse its arguments twice; the expansion of a pack (Dp, sp) copies a
// tree for each element of the pack, which has one byte at least, and expansions can be nested.
func stepsOfText(name string) int64 {
	n, encodings := int64(len(name)), strings.Count(name, "Z")
	steps := n + stepsPerEncoding*n*int64(encodings)
	casts := strings.Count(name, "cv") - strings.Count(name, "2cv") // not the namespace of OpenCV
	for range casts {
		if steps *= 2; steps > maxDemangling {
			return steps
		}
	}
	// Packs are in scope only in the parameters of a function, a lambda (Ul) or a cast, and those
	// of the outermost function are not parsed.
	if encodings <= 1 && casts <= 0 && !strings.Contains(name, "Ul") && !strings.HasPrefix(name, "_GLOBAL_") {
		return steps
	}
	for range strings.Count(name, "Dp") + strings.Count(name, "sp") {
		if steps *= 1 + n/32; steps > maxDemangling {
			return steps
		}
	}
	return steps
}

// stepsOfTree returns the steps of printing a tree: each use of a shared part counts, and each
// element searches those that contain it.
func stepsOfTree(tree demangle.AST) int64 {
	known := map[demangle.AST]treeCost{}
	c := costOf(tree, known)
	return min(c.nodes, maxDemangling) * min(1+c.depth/16, maxDemangling)
}

type treeCost struct{ nodes, depth int64 }

func costOf(tree demangle.AST, known map[demangle.AST]treeCost) treeCost {
	if cost, ok := known[tree]; ok {
		return cost
	}
	known[tree] = treeCost{2 * maxDemangling, 1} // if the tree contains itself
	cost := treeCost{nodes: 1}
	add := func(part demangle.AST) {
		if part == nil {
			return
		}
		c := costOf(part, known)
		cost.nodes = min(cost.nodes+c.nodes, 2*maxDemangling)
		cost.depth = max(cost.depth, c.depth+1)
	}
	if p, ok := tree.(*demangle.TemplateParam); ok && p.Template != nil && p.Index < len(p.Template.Args) {
		add(p.Template.Args[p.Index])
	}
	tree.Traverse(func(part demangle.AST) bool {
		if part == tree {
			return true
		}
		add(part)
		return false
	})
	known[tree] = cost
	return cost
}

// withoutVersion removes "@GLIBC_2.2" from dynamic symbols.
func withoutVersion(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 && strings.HasPrefix(name, "_Z") {
		return name[:i]
	}
	return name
}
