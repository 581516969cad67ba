// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Chunk is a V2 profile chunk, its parts as JSON text. Empty fields have valid defaults: one
// sample, one frame, one thread.
type Chunk struct {
	ID       string
	Platform string
	Frames   string // elements of the list
	Stacks   string
	Samples  string
	Threads  string // members of the object
	More     string // additional members next to the profile, each followed by a comma
}

// Payload returns the item's payload.
func (c Chunk) Payload() string {
	return fmt.Sprintf(`{"version":"2","platform":"%s","profiler_id":"%s","chunk_id":"%s",`+
		`"release":"shop@1.0","client_sdk":{"name":"sentry.python","version":"2.68.0"},%s`+
		`"profile":{"frames":[%s],"stacks":[%s],"samples":[%s],"thread_metadata":{%s}}}`,
		cmp.Or(c.Platform, "python"), NewID(), cmp.Or(c.ID, NewID()), c.More,
		cmp.Or(c.Frames, `{"function":"main","in_app":true}`), cmp.Or(c.Stacks, `[0]`),
		cmp.Or(c.Samples, `{"timestamp":1700000000.5,"thread_id":"1","stack_id":0}`), cmp.Or(c.Threads, `"1":{"name":"MainThread"}`))
}

// TwoSamples are samples of one thread: Sentry's ingest requires two.
const TwoSamples = `{"timestamp":1700000000.5,"thread_id":"1","stack_id":0},{"timestamp":1700000000.51,"thread_id":"1","stack_id":0}`

// Request returns a request with the chunk.
func (c Chunk) Request() Request { return ItemRequest("profile_chunk", c.Payload()) }

// ItemRequest returns a request with an envelope of one item.
func ItemRequest(kind, payload string) Request {
	return EnvelopeRequest([]byte(fmt.Sprintf("{\"event_id\":\"%s\"}\n{\"type\":\"%s\",\"length\":%d}\n%s\n", NewID(), kind, len(payload), payload)))
}

// ProfileV1 returns a minimal V1 profile.
func ProfileV1(id string) string {
	return fmt.Sprintf(`{"version":"1","event_id":"%s","platform":"node","timestamp":"2026-11-21T01:20:51.416Z",`+
		`"release":"shop@1.0","environment":"test","device":{"architecture":"x64"},"os":{"name":"linux","version":"6.1"},`+
		`"transaction":{"id":"%s","name":"GET /","trace_id":"%s","active_thread_id":"0"},`+
		`"profile":{"frames":[{"function":"main"},{"function":"work"}],"stacks":[[1,0]],`+
		`"samples":[{"elapsed_since_start_ns":"0","thread_id":"0","stack_id":0},{"elapsed_since_start_ns":"10000000","thread_id":"0","stack_id":0}],`+
		`"thread_metadata":{"0":{"name":"main"}}}}`, id, NewID(), NewID())
}

// NewID returns a random ID of 16 bytes in hex.
func NewID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// List returns n elements, separated by commas; element appends one.
func List(n int, element func(b []byte, i int) []byte) string {
	var b []byte
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return string(b)
}

// Numbered returns a function for List: it appends the index of the element between two texts.
func Numbered(before, after string) func(b []byte, i int) []byte {
	return func(b []byte, i int) []byte {
		return append(strconv.AppendInt(append(b, before...), int64(i), 10), after...)
	}
}
