// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxInput is the maximum size of an input, after decompression. Sentry accepts envelopes of 200
	// MiB.
	maxInput = 200 << 20

	// largeInput is the size from which reading is reported on terminals.
	largeInput = 16 << 20

	// downloadTimeout is enough for the largest input at 1 MB/s.
	downloadTimeout = 5 * time.Minute
)

// input is a payload without its compression.
type input struct {
	name string
	data []byte
}

// read reads the inputs that a command names, each completely.
func (e environment) read(names []string) ([]input, error) {
	if len(names) == 0 {
		return nil, misuse("no input: name files, URLs, or - for the standard input")
	}
	var inputs []input
	for _, name := range names {
		data, err := e.readOne(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", name, err)
		}
		inputs = append(inputs, input{name, data})
	}
	return inputs, nil
}

func (e environment) readOne(name string) ([]byte, error) {
	switch {
	case name == "-":
		return e.readAll("standard input", e.in, 0)
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		client := http.Client{Timeout: downloadTimeout}
		response, err := client.Get(name)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("the server responds with %s", response.Status)
		}
		return e.readAll(name, response.Body, response.ContentLength)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err) // the name is known
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder, name its files")
	}
	return e.readAll(name, file, info.Size())
}

// readAll reads a stream of a size, 0 if unknown, and decompresses it.
func (e environment) readAll(name string, from io.Reader, size int64) ([]byte, error) {
	if e.progress && size >= largeInput {
		from = &progress{from: from, to: e.err, name: name, size: size}
	}
	stream, err := decompress(bufio.NewReader(from))
	if err != nil {
		return nil, err
	}
	return readLimited(stream, maxInput)
}

func readLimited(stream io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(stream, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return data, err
}

var (
	magicGzip = []byte{0x1f, 0x8b}
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxZstdWindow limits the memory of a decoder to that of the recommended maximum window.
const maxZstdWindow = 8 << 20

// decompress removes gzip and zstd. Others cannot be recognised.
func decompress(from *bufio.Reader) (io.Reader, error) {
	begin, _ := from.Peek(len(magicZstd))
	switch {
	case bytes.HasPrefix(begin, magicGzip):
		return gzip.NewReader(from)
	case bytes.HasPrefix(begin, magicZstd):
		return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}
	return from, nil
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
			end = "\r\x1b[K" // the line disappears
		}
		fmt.Fprintf(p.to, "\rreading %s: %d %%%s", printable(p.name), min(percent, 100), end)
	}
	return n, err
}
