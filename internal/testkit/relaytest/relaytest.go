// SPDX-License-Identifier: Apache-2.0

// Package relaytest runs Sentry's own event processing and data scrubbing in tests: the package
// sentry-relay of PyPI. `make relay` installs it.
package relaytest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// Python returns the interpreter that has the package. Without one, it skips the test.
func Python(t testing.TB) string {
	python := os.Getenv("RELAY_PYTHON")
	if python == "" {
		t.Skip("set RELAY_PYTHON to an interpreter with the package sentry-relay, or use make relay")
	}
	return python
}

// Result is what Sentry changes in an event.
type Result struct {
	Errors []Error         `json:"errors"`
	Meta   json.RawMessage `json:"meta"` // "null" if Sentry keeps all fields as they are
}

// Error is a problem that Sentry shows with an event.
type Error struct {
	Type   string `json:"type"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Normalize returns a result for each event.
func Normalize(t testing.TB, events [][]byte) []Result { return run[Result](t, "normalize.py", events) }

// Strip returns each event after decoding by Sentry, without and with default scrubbing.
func Strip(t testing.TB, events [][]byte) [][2]json.RawMessage {
	return run[[2]json.RawMessage](t, "strip.py", events)
}

// run returns the output of a script for each event.
func run[T any](t testing.TB, script string, events [][]byte) (results []T) {
	python := Python(t)
	command := exec.Command(python, filepath.Join(golden.Root(t), "internal", "testkit", "relaytest", script))
	var input bytes.Buffer
	for _, event := range events {
		require.NoError(t, json.Compact(&input, event)) // no newlines
		input.WriteByte('\n')
	}
	command.Stdin, command.Stderr = &input, os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var r T
		require.NoError(t, decoder.Decode(&r))
		results = append(results, r)
	}
	require.Len(t, results, len(events))
	return results
}
