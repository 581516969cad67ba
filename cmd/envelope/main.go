// SPDX-License-Identifier: Apache-2.0

// Command envelope describes, checks and sends payloads of Sentry SDKs, and converts profiles. It
// uses the packages of the collector's components, so its results match theirs.
//
//	envelope help
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], environment{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stdout), progress: isTerminal(os.Stderr)}))
}

// environment is the environment in which a command runs.
type environment struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // out is a terminal
	progress bool // err is a terminal
}

// The exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // the input cannot be processed, or has findings
	exitMisused = 2
)

// command is a subcommand of envelope.
type command struct {
	name      string
	arguments string
	summary   string
	examples  []string // CI runs them at the root of the repository

	// prepare defines the flags, and returns the function that runs the command.
	prepare func(*flag.FlagSet) func(environment, []string) error
}

var commands = []command{explainCommand, convertCommand, lintCommand, checkCommand, sendCommand, scrubCommand}

// errFindings is the error of a command that has reported its findings.
var errFindings = errors.New("findings")

// misuse is an error in the command line.
type misuse string

func (m misuse) Error() string { return string(m) }

func run(arguments []string, env environment) int {
	name := "help"
	if len(arguments) > 0 {
		name, arguments = arguments[0], arguments[1:]
	}
	switch strings.TrimLeft(name, "-") {
	case "help", "h":
		if len(arguments) == 0 {
			overview(env.out)
			return exitOK
		}
		name, arguments = arguments[0], []string{"--help"}
	case "version":
		fmt.Fprintf(env.out, "envelope %s (%s, %s/%s)\n", program.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return exitOK
	}
	var known []string
	for _, c := range commands {
		if c.name == name {
			return c.run(arguments, env)
		}
		known = append(known, c.name)
	}
	fmt.Fprintf(env.err, "envelope: %q is not a command, must be one of %s; see envelope help\n", onLine(name), strings.Join(known, ", "))
	return exitMisused
}

func (c command) run(arguments []string, env environment) int {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the errors are reported below
	work := c.prepare(flags)
	files, err := parse(flags, arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.help(env.out, flags)
		return exitOK
	case err != nil:
		err = misuse(err.Error())
	default:
		err = work(env, files)
	}
	wrong, misused := errors.AsType[misuse](err)
	switch {
	case err == nil:
		return exitOK
	case misused:
		fmt.Fprintf(env.err, "envelope %s: %s; see envelope help %s\n", c.name, onLine(wrong.Error()), c.name)
		return exitMisused
	case !errors.Is(err, errFindings):
		fmt.Fprintf(env.err, "envelope %s: %s\n", c.name, printable(err.Error()))
	}
	return exitFailed
}

// parse reads flags before, between and after the other arguments.
func parse(flags *flag.FlagSet, arguments []string) (others []string, err error) {
	for {
		if err := flags.Parse(arguments); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return others, nil
		}
		if n := len(arguments) - flags.NArg(); n > 0 && arguments[n-1] == "--" {
			return append(others, flags.Args()...), nil
		}
		others, arguments = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}

func overview(out io.Writer) {
	fmt.Fprint(out, "envelope describes, checks and sends payloads of Sentry SDKs, and converts profiles.\n\n")
	for _, c := range commands {
		fmt.Fprintf(out, "  envelope %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprint(out, `
Arguments are files, tar archives, URLs, or - for standard input; gzip and zstd are decompressed.
"envelope help COMMAND" lists the flags and examples of a command, "envelope version" prints the version.

Exit codes: 0 success, 1 the input cannot be processed or has findings, 2 the command line is wrong.
`)
}

func (c command) help(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprintf(out, "envelope %s [flags] %s\n\n%s.\n\nFlags:\n", c.name, c.arguments, c.summary)
	flags.SetOutput(out)
	flags.PrintDefaults()
	fmt.Fprint(out, "\nExamples:\n")
	for _, example := range c.examples {
		fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(example, "$OUT/", "")) // a folder of the tests
	}
}
