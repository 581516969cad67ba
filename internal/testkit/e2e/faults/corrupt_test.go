// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// damage is a way to damage a file.
type damage struct {
	name string
	do   func(r *rig, text []byte) []byte
}

const diskPage = 4096 // bytes; bbolt, the database of file_storage, uses the same

var damages = []damage{
	{"emptied", func(*rig, []byte) []byte { return nil }},
	{"truncated", func(r *rig, text []byte) []byte { return text[:r.random.IntN(len(text))] }},
	{"first two pages overwritten", func(r *rig, text []byte) []byte { return r.overwrite(text, 0, 2*diskPage) }},
	{"one of the later pages overwritten", func(r *rig, text []byte) []byte {
		return r.overwrite(text, diskPage*(2+r.random.IntN(len(text)/diskPage-2)), diskPage)
	}},
	{"32 bytes overwritten", func(r *rig, text []byte) []byte {
		return r.overwrite(text, 2*diskPage+r.random.IntN(len(text)-2*diskPage-32), 32)
	}},
}

func (r *rig) overwrite(text []byte, from, n int) []byte {
	for i := range n {
		text[from+i] = byte(r.random.Uint32())
	}
	return text
}

// ending is the result of starting the collector with a damaged file.
type ending string

const (
	endsNot       ending = "starts"
	endsNotAnew   ending = "starts with a new file"
	endsWithError ending = "does not start: error message"
	endsWithPanic ending = "does not start: panic"
	endsLater     ending = "starts, but exits later"

	recreatedNotice = "recreating database file" // of file_storage
)

// corruptFile damages one file of the storage while no collector runs and the backend is down. If
// the collector cannot run with the file, it moves the file away, as an operator would.
func corruptFile(r *rig) {
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(50))
	r.backend.be(down)
	r.awaitAnswers(50 + r.some(200))
	if r.random.IntN(2) == 0 {
		r.Stop()
	} else {
		r.Crash()
	}

	path := r.damageFile()
	c, err := harness.TryStart(r.t, r.settings())
	r.use(c)
	switch {
	case err == nil && strings.Contains(c.Log.String(), recreatedNotice):
		r.ended = endsNotAnew
	case err == nil:
		r.ended = endsNot
	case strings.Contains(c.Log.String(), "goroutine "):
		r.ended = endsWithPanic
	default:
		r.ended = endsWithError
	}
	if err == nil {
		r.awaitAnswers(r.some(50))
		stop()
		r.backend.be(well)
		r.drain() // reads the whole file
		if c.Running() {
			return
		}
		r.ended = endsLater
	}
	// The collector used the file until now. If it ended, it may have acknowledged items before.
	r.damagedAt = time.Now()
	r.crashes = append(r.crashes, crash{from: r.damagedAt.Add(-r.setup.wait)})
	require.NoError(r.t, os.Rename(path, path+".damaged"))
	r.start()
	if err != nil {
		r.awaitAnswers(r.some(50))
		stop()
	}
}

// damageFile damages one file of the storage and returns its path.
func (r *rig) damageFile() (path string) {
	entries, err := os.ReadDir(r.directory)
	require.NoError(r.t, err)
	path = filepath.Join(r.directory, entries[r.random.IntN(len(entries))].Name())
	text, err := os.ReadFile(path)
	require.NoError(r.t, err)
	d := damages[r.random.IntN(len(damages))]
	require.NoError(r.t, os.WriteFile(path, d.do(r, text), 0o600))

	_, signal, _ := strings.Cut(filepath.Base(path), "__") // as in exporter_otlp_http__traces
	r.damagedKind, r.damagedAt, r.damage = kindOf[signal], time.Now(), d.name
	return path
}
