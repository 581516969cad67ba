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
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], environment{in: os.Stdin, out: os.Stdout, err: os.Stderr, colors: isTerminal(os.Stdout), progress: isTerminal(os.Stderr)}))
}

// environment is the environment in which a command runs.
type environment struct {
	in       io.Reader
	out, err io.Writer
	colors   bool // out is a terminal
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
	if len(arguments) == 0 || arguments[0] == "help" || strings.TrimLeft(arguments[0], "-") == "help" || arguments[0] == "-h" {
		overview(env.out)
		return exitOK
	}
	for _, c := range commands {
		if c.name == arguments[0] {
			return c.run(arguments[1:], env)
		}
	}
	fmt.Fprintf(env.err, "envelope: %q is not a command; see envelope help\n", arguments[0])
	return exitMisused
}

func (c command) run(arguments []string, env environment) int {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(env.err)
	work := c.prepare(flags)
	flags.Usage = func() { c.help(flags) }
	files, err := parse(flags, arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitMisused
	}
	err = work(env, files)
	wrong, misused := errors.AsType[misuse](err)
	switch {
	case err == nil:
		return exitOK
	case misused:
		fmt.Fprintf(env.err, "envelope %s: %s; see envelope %s --help\n", c.name, wrong, c.name)
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
	fmt.Fprint(out, "\nArguments are files, tar archives, URLs, or - for standard input; gzip and zstd are decompressed. envelope COMMAND --help lists flags and examples.\n")
}

func (c command) help(flags *flag.FlagSet) {
	out := flags.Output()
	fmt.Fprintf(out, "envelope %s [flags] %s\n\n%s.\n", c.name, c.arguments, c.summary)
	any := false
	flags.VisitAll(func(*flag.Flag) { any = true })
	if any {
		fmt.Fprint(out, "\nFlags:\n")
		flags.PrintDefaults()
	}
	fmt.Fprint(out, "\nExamples:\n")
	for _, example := range c.examples {
		fmt.Fprintf(out, "  %s\n", example)
	}
}
