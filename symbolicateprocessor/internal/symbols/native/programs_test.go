// SPDX-License-Identifier: Apache-2.0

package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// programs is the directory of the programs that tests build, and builds has a function for each of
// them: most tests need the same ones, and a compiler runs for a second.
var (
	programs string
	builds   sync.Map
)

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "native"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	m.Run()
}

// built runs a compiler once per test binary, and returns the path of the program. The last
// argument is the source.
func built(t testing.TB, compiler ...string) string {
	t.Helper()
	build, _ := builds.LoadOrStore(strings.Join(compiler, " "), sync.OnceValues(func() (string, error) {
		directory, err := os.MkdirTemp(programs, "")
		if err != nil {
			return "", err
		}
		path := filepath.Join(directory, "program")
		command := exec.Command(compiler[0], slices.Insert(slices.Clone(compiler[1:]), len(compiler)-2, "-o", path)...)
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", compiler, err, output)
		}
		return path, nil
	}))
	path, err := build.(func() (string, error))()
	require.NoError(t, err)
	return path
}

// optimized are the arguments of the C++ program that most tests use.
var optimized = []string{"-gdwarf-5", "-O2"}

// compile builds a C++ program from testdata.
func compile(t testing.TB, arguments ...string) string {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("needs g++")
	}
	source := "testdata/shop.cc"
	if !testsize.Full() {
		source = "testdata/cart.cc"
	}
	return built(t, slices.Concat([]string{"g++"}, arguments, []string{source})...)
}

// goProgram builds a program without cgo. Both variants have the same addresses of code.
func goProgram(t testing.TB, stripped bool) string {
	t.Helper()
	linker := "-ldflags=-buildid="
	if stripped {
		linker += " -s -w"
	}
	return built(t, "go", "build", "-trimpath", linker, "./testdata/program")
}
