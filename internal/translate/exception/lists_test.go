// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// TestThereAndBack: both readers return what the writer was given, for the events of all cases.
func TestThereAndBack(t *testing.T) {
	payloads := []string{`{"exception":[{"type":"MXHangDiagnostic","thread_id":7,"stacktrace":{"registers":{"rip":"0x1"},"frames":[
		{"function":"main","parent_index":-1,"sample_count":10,"image_addr":"0x10","vars":{"a":[1]}},{"function":"slow","parent_index":0}]}}],
		"threads":[{"id":7,"crashed":true,"held_locks":{"a":1},"stacktrace":{"frames":[{"function":"outer"},{"function":"inner","lock":{"type":1}}]}}],
		"stacktrace":{"lang":"php","frames":[{"filename":"a.php","vars":["x"]},{"filename":"b.php","lineno":3}]}}`}
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "cases", "*", "in.envelope"))
	require.NoError(t, err)
	for _, path := range paths {
		envelope, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, line := range strings.Split(string(envelope), "\n") {
			if strings.Contains(line, `"exception"`) {
				payloads = append(payloads, strings.ReplaceAll(line, `,"vars":{}`, "")) // states nothing
			}
		}
	}
	read := 0
	for _, payload := range payloads {
		sent, err := event.DecodeEvent([]byte(payload))
		if err != nil {
			continue
		}
		attrs := pcommon.NewMap()
		Put(attrs, sent)
		back := &event.ErrorEvent{Stacktrace: MessageStack(attrs).Sent()}
		for _, x := range Chain(attrs) {
			x.Stacktrace = x.Stack.Sent()
			back.Exceptions = append(back.Exceptions, x.Exception)
		}
		for _, thread := range Threads(attrs) {
			thread.Stacktrace = thread.Stack.Sent()
			back.Threads = append(back.Threads, thread.EventThread)
		}
		want := &event.ErrorEvent{Exceptions: sent.Exceptions, Threads: sent.Threads, Stacktrace: sent.Stacktrace}
		assert.JSONEq(t, string(event.Events.Append(nil, want)), string(event.Events.Append(nil, back)))

		direct := &event.ErrorEvent{Stacktrace: sent.Stacktrace, Lists: &Lists{attrs}}
		assert.JSONEq(t, string(event.Events.Append(nil, want)), string(event.Events.Append(nil, direct)))
		if len(sent.Exceptions) > 0 {
			read++
			thrown := sent.Exceptions[len(sent.Exceptions)-1]
			assert.Equal(t, thrown.Headline(), Read(attrs).Headline())
			assert.Equal(t, event.Exception{Type: thrown.Type, Value: thrown.Value}, (&Lists{attrs}).Thrown())
		}
	}
	require.Greater(t, read, 10)
}

// TestReported: an exception is read as reported and as symbolicated, and only texts that change
// are kept twice.
func TestReported(t *testing.T) {
	attrs := pcommon.NewMap()
	reported := Texts{Type: "a.b", Message: "no stock", Stacktrace: "a.b: no stock\n\tat a.b.c(x:1)"}
	reported.Put(attrs)
	Texts{Type: "a.b", Stacktrace: "a.b: no stock\n\tat Cart.total(Cart.kt:22)"}.Symbolicate(attrs)
	assert.Equal(t, reported, ReadReported(attrs))
	assert.Equal(t, Texts{"a.b", "no stock", "a.b: no stock\n\tat Cart.total(Cart.kt:22)"}, Read(attrs))
	assert.Equal(t, 4, attrs.Len(), "the type is the same")
	for key := range attrs.All() {
		assert.True(t, IsKey(key), key)
	}
}
