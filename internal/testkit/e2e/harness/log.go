// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// LogBuffer stores the output of a process.
type LogBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *LogBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *LogBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *LogBuffer) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

// Tail returns the last 8 KiB.
func (l *LogBuffer) Tail() string {
	const enough = 8 << 10
	text := l.String()
	return text[max(0, len(text)-enough):]
}

// CheckLog checks that the log contains no panic and none of the secrets: nothing that clients send
// is logged.
func CheckLog(t testing.TB, c *Collector, secrets ...string) {
	t.Helper()
	log := c.Log.String()
	for _, text := range append(secrets, "panic", "DPANIC", "goroutine ") {
		assert.NotContains(t, strings.ToLower(log), strings.ToLower(text), "in the log of the collector")
	}
}
