// SPDX-License-Identifier: Apache-2.0

package native

import (
	"errors"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

const (
	// maxBuilt bounds the memory of the table while it is built. A Rust library of 74 MB with DWARF
	// has an index of 19 MB.
	maxBuilt = 160 << 20

	// maxUnit bounds the line rows, functions and ranges of one compilation unit. Ranges can be
	// shared by many functions, so that their number is not bounded by the size of the file. The
	// largest units, of Go's runtime and of merged LTO units, have a few hundred thousand.
	maxUnit = 4 << 20

	// maxDepth bounds nested functions and lexical blocks.
	maxDepth = 512

	// maxChain bounds the functions at an address: many addresses can share them.
	maxChain = 256

	// maxName bounds names of functions and files: many addresses can share them. Names of C++
	// templates reach a few kilobytes.
	maxName = 8 << 10

	// maxShown bounds all texts of a table: those of the file, and demangled names.
	maxShown = 2 * maxBuilt

	// maxDemangled is the binary logarithm of the bytes of a demangled name: mangled names refer to
	// their parts, and can grow exponentially.
	maxDemangled = 13

	// maxHeap bounds the sections that are inflated, and all that are read where files cannot be
	// mapped. maxRatio bounds their compression: DWARF shrinks to a third.
	maxHeap  = 128 << 20
	maxRatio = 200

	// maxUnits bounds the units of DWARF. The largest programs have some ten thousand.
	maxUnits = 1 << 20

	// maxText bounds texts of DWARF, because every use of a text copies it. maxName applies to
	// those that the table keeps.
	maxText = 1 << 20

	// maxAbbrevs bounds the memory of all abbreviations. abbrevBytes and attributeBytes are the
	// memory of one in the standard library.
	maxAbbrevs     = 128 << 20
	abbrevBytes    = 128
	attributeBytes = 24
	// maxAttributes bounds the attributes of an entry; compilers write up to 20.
	maxAttributes = 1 << 10

	// maxLineFiles bounds the directories, and the files, of a line table. Those of merged LTO
	// units have some ten thousand.
	maxLineFiles = 1 << 18

	// maxShared is how often the average byte of a line table or range list is read: compilers
	// refer to each once. maxTextShared is the same for texts, relative to the entries that refer
	// to them. sharedSlack is for small files.
	maxShared     = 16
	maxTextShared = 256
	sharedSlack   = 16 << 20

	// maxSlices bounds the architectures of a fat file.
	maxSlices = 16

	// maxLoads bounds the load commands of a Mach-O file, in bytes; those of an app have a few
	// kilobytes.
	maxLoads = 1 << 20

	// maxTextLine bounds a line of a Breakpad file.
	maxTextLine = 64 << 10

	// releaseEvery is the number of read bytes after which the pages of the file are released.
	releaseEvery = 16 << 20
)

// Limits are those of Index. Programs, separate debug files and compressed ones need at most 4
// steps and 11 bytes of memory per byte.
var Limits = symbols.Limits{Steps: 16, Memory: 32}

// The errors of Identify, Index and Open. Others come from reading the file, or wrap one of these.
var (
	ErrFormat   = errors.New("native symbols: unknown format")
	ErrDamaged  = errors.New("native symbols: damaged file")
	ErrTooLarge = errors.New("native symbols: too large")
	ErrEmpty    = errors.New("native symbols: the file has no names")
)

// Reason returns the stable reason of an error, for metrics.
func Reason(err error) string {
	for target, reason := range map[error]string{ErrFormat: "unknown_format", ErrDamaged: "damaged", ErrTooLarge: "too_large", ErrEmpty: "no_names"} {
		if errors.Is(err, target) {
			return reason
		}
	}
	return "unreadable"
}
