// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// chunk is the payload of a V2 chunk, its parts as JSON text. What is left empty is a minimal valid one: one sample, one
// frame, one thread.
type chunk struct {
	id       string
	platform string
	frames   string // elements of the list
	stacks   string
	samples  string
	threads  string // members of the object
	more     string // members beside the profile, each followed by a comma
}

func (c chunk) payload() string {
	return fmt.Sprintf(`{"version":"2","platform":"%s","profiler_id":"%s","chunk_id":"%s",`+
		`"release":"shop@1.0","client_sdk":{"name":"sentry.python","version":"2.68.0"},%s`+
		`"profile":{"frames":[%s],"stacks":[%s],"samples":[%s],"thread_metadata":{%s}}}`,
		or(c.platform, "python"), newID(), or(c.id, newID()), c.more,
		or(c.frames, `{"function":"main","in_app":true}`), or(c.stacks, `[0]`),
		or(c.samples, `{"timestamp":1700000000.5,"thread_id":"1","stack_id":0}`), or(c.threads, `"1":{"name":"MainThread"}`))
}

// request is an envelope with the chunk in it.
func (c chunk) request() request { return envelopeOf("profile_chunk", c.payload()) }

// envelopeOf is a request with one item.
func envelopeOf(kind, payload string) request {
	return envelope([]byte(fmt.Sprintf("{\"event_id\":\"%s\"}\n{\"type\":\"%s\",\"length\":%d}\n%s\n", newID(), kind, len(payload), payload)))
}

// profileV1 is a minimal V1 profile.
func profileV1(id string) string {
	return fmt.Sprintf(`{"version":"1","event_id":"%s","platform":"node","timestamp":"2026-11-21T01:20:51.416Z",`+
		`"release":"shop@1.0","environment":"test","device":{"architecture":"x64"},"os":{"name":"linux","version":"6.1"},`+
		`"transaction":{"id":"%s","name":"GET /","trace_id":"%s","active_thread_id":"0"},`+
		`"profile":{"frames":[{"function":"main"},{"function":"work"}],"stacks":[[1,0]],`+
		`"samples":[{"elapsed_since_start_ns":"0","thread_id":"0","stack_id":0},{"elapsed_since_start_ns":"10000000","thread_id":"0","stack_id":0}],`+
		`"thread_metadata":{"0":{"name":"main"}}}}`, id, newID(), newID())
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// list is n elements, each made by element.
func list(n int, element func(b []byte, i int) []byte) string {
	var b []byte
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return string(b)
}

// numbered makes elements of text with the number of the element in it.
func numbered(before, after string) func(b []byte, i int) []byte {
	return func(b []byte, i int) []byte {
		return append(strconv.AppendInt(append(b, before...), int64(i), 10), after...)
	}
}

// times is n times the same element.
func times(n int, element string) string {
	return strings.Repeat(element+",", n-1) + element
}
