// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// load is a profile in both forms.
type load struct {
	sentry, otlp body
	samples      int
}

// mix is a set of profiles that are sent in turn.
type mix struct {
	name  string
	loads []load
	rate  float64  // per second, for the whole path: a collector needs less than a core
	spans [][]byte // envelopes with the spans to which chunks are linked
}

// mixes returns the profiles to send. The OTLP form of each profile is the collector's own output
// for the envelope.
func mixes(t *testing.T) []mix {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})
	defer c.Stop(t)
	chunk, large := pythonChunk(6060), pythonChunk(57_000)
	all := []mix{
		{name: "recorded", rate: 150, spans: recordedSpans(t)},
		{name: "generated", rate: 100, spans: pythonSpans(chunk)},
		{name: "generated, 5 MB", rate: 10, spans: pythonSpans(large)},
	}
	for i, envelopes := range [][][]byte{recordedEnvelopes(t), {chunk}, {large}} {
		for _, text := range envelopes {
			text = readdressed(t, text)
			require.Equal(t, http.StatusOK, c.Send(t, harness.EnvelopeRequest(text)).Status)
			messages := backend.DrainProfiles()
			if len(messages) != 1 {
				continue // without exactly one usable profile
			}
			profiles, err := harness.DecodeProfiles(messages[0])
			require.NoError(t, err)
			id := harness.OnlyProfile(profiles).ProfileID()
			if !bytes.Contains(text, []byte(hex.EncodeToString(id[:]))) {
				continue // a different notation
			}
			all[i].loads = append(all[i].loads, load{
				bodyOf(text, id[:], true), bodyOf(messages[0], id[:], false), harness.CountObservations(t, messages),
			})
		}
		require.NotEmpty(t, all[i].loads)
	}
	return all
}

// maxRecorded excludes a few recorded requests of tens of megabytes, which would dominate the load.
const maxRecorded = 1 << 20

// recordedEnvelopes returns requests of real SDKs with a profile.
func recordedEnvelopes(t *testing.T) (envelopes [][]byte) {
	for _, request := range golden.Corpus(t) {
		for _, kind := range request.Items {
			if kind != "profile" && kind != "profile_chunk" {
				continue
			}
			if text := request.Decoded(t); len(text) <= maxRecorded {
				envelopes = append(envelopes, text)
			}
			break
		}
	}
	return envelopes
}

// readdressed removes the DSN from the header of an envelope, because it must not contradict the
// request.
func readdressed(t *testing.T, envelope []byte) []byte {
	line, items, _ := bytes.Cut(envelope, []byte("\n"))
	var header map[string]any
	require.NoError(t, json.Unmarshal(line, &header))
	delete(header, "dsn")
	if trace, ok := header["trace"].(map[string]any); ok {
		delete(trace, "public_key")
	}
	line, err := json.Marshal(header)
	require.NoError(t, err)
	return append(append(line, '\n'), items...)
}

// recordedSpans returns requests of real SDKs with spans and without a profile.
func recordedSpans(t *testing.T) (envelopes [][]byte) {
	for _, request := range golden.Corpus(t) {
		has := func(kind string) bool { return slices.Contains(request.Items, kind) }
		if (has("transaction") || has("span")) && !has("profile") && !has("profile_chunk") {
			envelopes = append(envelopes, readdressed(t, request.Decoded(t)))
		}
	}
	return envelopes
}

const (
	pythonThreads = 10
	pythonStart   = 1700000000 // seconds
	pythonTick    = 9901       // microseconds
)

func pythonThread(i int) int { return 140100440659648 + i }

// pythonChunk returns an envelope with ten threads at 101 Hz. 6060 samples take 6 s; one thread has
// as many in a minute.
func pythonChunk(samples int) []byte {
	stacks, depth, frames := samples*300/6060, 20, samples*400/6060
	appendInt := func(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
	return harness.Chunk{
		Frames: harness.List(frames, harness.Numbered(`{"function":"Handler.method_`, `","module":"shop.views","filename":"shop/views.py",`+
			`"abs_path":"/srv/shop/views.py","lineno":42,"in_app":true}`)),
		Stacks: harness.List(stacks, func(b []byte, i int) []byte {
			b = append(b, '[')
			for level := range depth {
				if level > 0 {
					b = append(b, ',')
				}
				b = appendInt(b, (i*(depth-level)+level)%frames) // stacks differ more towards the leaf
			}
			return append(b, ']')
		}),
		Samples: harness.List(samples, func(b []byte, i int) []byte {
			micros := i / pythonThreads * pythonTick
			b = append(b, `{"timestamp":`...)
			b = appendInt(b, pythonStart+micros/1e6)
			b = append(b, '.')
			b = append(b, strconv.Itoa(1e6 + micros%1e6)[1:]...)
			b = append(b, `,"thread_id":"`...)
			b = appendInt(b, pythonThread(i%pythonThreads))
			b = append(b, `","stack_id":`...)
			b = appendInt(b, (i%pythonThreads*(stacks/pythonThreads)+i/70)%stacks) // each stack repeats for a while
			return append(b, '}')
		}),
		Threads: harness.List(pythonThreads, func(b []byte, i int) []byte {
			return append(appendInt(append(b, '"'), pythonThread(i)), `":{"name":"worker"}`...)
		}),
	}.Request().Body
}

var profilerID = regexp.MustCompile(`"profiler_id":"(\w+)"`)

// pythonSpans returns transactions on all threads of a chunk, two per second and thread, each with
// four child spans.
func pythonSpans(chunk []byte) (envelopes [][]byte) {
	const (
		each     = 0.5 // seconds
		children = 4
	)
	session := profilerID.FindSubmatch(chunk)[1]
	samples := bytes.Count(chunk, []byte(`"stack_id"`))
	end := pythonStart + float64(samples/pythonThreads*pythonTick)/1e6
	for thread := range pythonThreads {
		data := fmt.Sprintf(`"data":{"thread.id":"%d"}`, pythonThread(thread))
		for start := float64(pythonStart); start < end; start += each {
			trace, root := harness.NewID(), harness.NewID()[:16]
			spans := harness.List(children, func(b []byte, i int) []byte {
				from := start + float64(i)*each/children
				return fmt.Appendf(b, `{"trace_id":"%s","span_id":"%s","parent_span_id":"%s","op":"db","start_timestamp":%f,"timestamp":%f,%s}`,
					trace, harness.NewID()[:16], root, from, from+0.9*each/children, data)
			})
			envelopes = append(envelopes, harness.ItemRequest("transaction", fmt.Sprintf(`{"type":"transaction","event_id":"%s","platform":"python",`+
				`"transaction":"GET /","start_timestamp":%f,"timestamp":%f,"contexts":{"trace":{"trace_id":"%s","span_id":"%s","op":"http.server",%s},`+
				`"profile":{"profiler_id":"%s"}},"spans":[%s]}`, harness.NewID(), start, start+each, trace, root, data, session, spans)).Body)
		}
	}
	return envelopes
}
