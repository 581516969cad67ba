// SPDX-License-Identifier: Apache-2.0

package exception

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// TestThereAndBack: the JSON has what the writer was given, and the reader returns the fields that
// code uses, for the events of all cases.
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
		put(attrs, sent)
		want := &event.ErrorEvent{Exceptions: sent.Exceptions, Threads: sent.Threads, Stacktrace: sent.Stacktrace}
		assert.JSONEq(t, string(event.Events.Append(nil, want)), string(event.Events.Append(nil, &event.ErrorEvent{Lists: &Lists{attrs}})))

		back := &event.ErrorEvent{Stacktrace: inOrder(MessageStack(attrs, Unlimited))}
		for _, x := range Chain(attrs, Unlimited) {
			x.Stacktrace = inOrder(x.Stack)
			back.Exceptions = append(back.Exceptions, x.Exception)
		}
		for thread := range Threads(attrs, Unlimited) {
			thread.Stacktrace = inOrder(thread.Stack)
			back.Threads = append(back.Threads, thread.EventThread)
		}
		withoutRest(want)
		assert.Equal(t, want, back)
		if len(sent.Exceptions) > 0 {
			read++
			thrown := sent.Exceptions[len(sent.Exceptions)-1]
			assert.Equal(t, thrown.Headline(), Read(attrs).Headline())
			assert.Equal(t, event.Exception{Type: thrown.Type, Value: thrown.Value}, (&Lists{attrs}).Thrown())
		}
	}
	require.Greater(t, read, 10)
}

// TestLimits: the last exceptions, the first threads and the first frames are read, others are not.
func TestLimits(t *testing.T) {
	attrs := pcommon.NewMap()
	stack := &event.Stacktrace{Frames: make([]event.EventFrame, 7)}
	e := &event.ErrorEvent{Exceptions: make([]event.Exception, 5), Threads: make([]event.EventThread, 5), Stacktrace: stack}
	for i := range 5 {
		e.Exceptions[i] = event.Exception{Type: strconv.Itoa(i), Stacktrace: stack}
		e.Threads[i] = event.EventThread{ID: strconv.Itoa(i), Stacktrace: stack}
	}
	put(attrs, e)
	most := Limits{Exceptions: 2, Threads: 3, Frames: 4}
	chain, threads := Chain(attrs, most), slices.Collect(Threads(attrs, most))
	require.Len(t, chain, 2)
	require.Len(t, threads, 3)
	assert.Equal(t, []string{"3", "4", "0"}, []string{chain[0].Type, chain[1].Type, threads[0].ID})
	for _, s := range []*Stack{chain[0].Stack, threads[0].Stack, MessageStack(attrs, most)} {
		assert.Len(t, s.Frames, 4)
		assert.Len(t, s.Maps, 4)
		assert.Equal(t, 3, s.Omitted)
	}
}

func put(attrs pcommon.Map, e *event.ErrorEvent) {
	PutChain(attrs, e)
	PutMessageStack(attrs, e)
	PutThreads(attrs, e)
}

// TestElements: an allowance bounds exceptions, threads and frames together. Threads are read one
// at a time, and a frame has as many names as writers put into it.
func TestElements(t *testing.T) {
	attrs := pcommon.NewMap()
	stack := &event.Stacktrace{Frames: make([]event.EventFrame, 3)}
	put(attrs, &event.ErrorEvent{Exceptions: make([]event.Exception, 2), Threads: []event.EventThread{{Stacktrace: stack}, {Stacktrace: stack}}, Stacktrace: stack})
	most, left := Unlimited, allowance.Of(8*ElementBytes)
	most.Elements = &left
	assert.Len(t, Chain(attrs, most), 2)
	for thread := range Threads(attrs, most) {
		assert.Len(t, thread.Stack.Frames, 3)
		break
	}
	assert.Len(t, MessageStack(attrs, most).Frames, 2)
	assert.Empty(t, slices.Collect(Threads(attrs, most)))
	assert.Empty(t, Chain(attrs, most))
	assert.Equal(t, 3, MessageStack(attrs, most).Omitted)

	frame := pcommon.NewMap()
	PutNames(frame, make([]event.EventFrame, MaxNames+1))
	names, _ := Names(frame)
	assert.Len(t, names, MaxNames)
}

func inOrder(s *Stack) *event.Stacktrace {
	if s == nil {
		return nil
	}
	if !s.Tree {
		slices.Reverse(s.Frames)
	}
	return &s.Stacktrace
}

func withoutRest(e *event.ErrorEvent) {
	stacks := []*event.Stacktrace{e.Stacktrace}
	for i := range e.Exceptions {
		x := &e.Exceptions[i]
		x.Rest, stacks = nil, append(stacks, x.Stacktrace)
		if x.Mechanism != nil {
			x.Mechanism.Rest = nil
		}
	}
	for i := range e.Threads {
		e.Threads[i].Rest, stacks = nil, append(stacks, e.Threads[i].Stacktrace)
	}
	for _, stack := range stacks {
		if stack != nil {
			stack.Rest = nil
			for i := range stack.Frames {
				stack.Frames[i].Rest = nil
			}
		}
	}
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
