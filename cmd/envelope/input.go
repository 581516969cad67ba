// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

const (
	// maxInput is the maximum size of an input, after decompression. Sentry accepts envelopes of
	// 200 MiB.
	maxInput = 200 << 20

	// largeInput is the size from which reading is reported on terminals.
	largeInput = 16 << 20

	// downloadTimeout is enough for the largest input at 1 MB/s.
	downloadTimeout = 5 * time.Minute
)

// input is a decompressed payload.
type input struct {
	name string
	data []byte
	cut  error // see profilefile.File
}

// file returns the input as a file.
func (in input) file() profilefile.File { return profilefile.File{Data: in.data, Cut: in.cut} }

// read reads the named inputs completely.
func (e environment) read(names []string) ([]input, error) {
	inputs, err := e.readParts(names)
	for _, in := range inputs {
		if in.cut != nil {
			return nil, fmt.Errorf("cannot read %s: %w", in.name, in.cut)
		}
	}
	return inputs, err
}

// readParts reads the named inputs. Inputs with incomplete compressed data are read as far as
// possible.
func (e environment) readParts(names []string) ([]input, error) {
	if len(names) == 0 {
		return nil, misuse("no input: name files, URLs, or - for the standard input")
	}
	var inputs []input
	for _, name := range names {
		file, err := e.readOne(name)
		if err == nil && len(file.Data) == 0 {
			err = errors.New("it is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		members, err := input{name, file.Data, file.Cut}.members()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		inputs = append(inputs, members...)
	}
	return inputs, nil
}

func (e environment) readOne(name string) (file profilefile.File, err error) {
	switch {
	case name == "-":
		return e.readAll("standard input", e.in, 0)
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		client := http.Client{Timeout: downloadTimeout}
		response, err := client.Get(name)
		if err != nil {
			return file, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return file, fmt.Errorf("the server responds with %s", response.Status)
		}
		return e.readAll(name, response.Body, response.ContentLength)
	}
	from, err := os.Open(name)
	if err != nil {
		return file, errors.Unwrap(err) // the caller adds the name
	}
	defer from.Close()
	info, err := from.Stat()
	switch {
	case err != nil:
		return file, err
	case info.IsDir():
		return file, errors.New("it is a folder; list its files instead")
	}
	return e.readAll(name, from, info.Size())
}

// misfit returns a hint if data that the command does not accept is a profile for other commands,
// else "".
func misfit(data []byte) string {
	format, _, err := profilefile.Read(profilefile.File{Data: data}, "", importer.Options{})
	if err != nil {
		return ""
	}
	return "; it looks like " + format + ", see envelope help convert"
}

// readAll reads a stream and decompresses it. size is the size of the stream, or 0 if unknown.
func (e environment) readAll(name string, from io.Reader, size int64) (profilefile.File, error) {
	if e.progress && size >= largeInput {
		from = &progress{from: from, to: e.err, name: name, size: size}
	}
	return profilefile.Load(from, maxInput)
}

// step reports a step with a large input on a terminal, until done.
func (e environment) step(what string, size int) (done func()) {
	if !e.progress || size < largeInput {
		return func() {}
	}
	fmt.Fprintf(e.err, "\r%s (%s)", printable(what), bytesText(size))
	return func() { fmt.Fprint(e.err, clearLine) }
}

// clearLine makes a line of a terminal disappear.
const clearLine = "\r\x1b[K"

// total returns the size of all inputs.
func total(inputs []input) (size int) {
	for _, in := range inputs {
		size += len(in.data)
	}
	return size
}

// progress reports how much of a large input was read.
type progress struct {
	from     io.Reader
	to       io.Writer
	name     string
	size     int64
	done     int64
	reported int64 // percent
}

func (p *progress) Read(into []byte) (int, error) {
	n, err := p.from.Read(into)
	p.done += int64(n)
	if percent := p.done * 100 / p.size; percent > p.reported || err != nil {
		p.reported = percent
		end := ""
		if err != nil {
			end = clearLine
		}
		fmt.Fprintf(p.to, "\rreading %s: %d%%%s", printable(p.name), min(percent, 100), end)
	}
	return n, err
}
