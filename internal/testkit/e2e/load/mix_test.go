// SPDX-License-Identifier: Apache-2.0

//go:build load

package load

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
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
}

// mixes returns the profiles to send. The OTLP form of each profile is the collector's own output for the envelope.
func mixes(t *testing.T) []mix {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})
	defer c.Stop(t)
	all := []mix{{name: "recorded"}, {name: "generated"}}
	for i, envelopes := range [][][]byte{recordedEnvelopes(t), {pythonChunk().Body}} {
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

// recordedEnvelopes returns requests of real SDKs with a profile: from the whole corpus if it is available, otherwise from the test cases.
func recordedEnvelopes(t *testing.T) (envelopes [][]byte) {
	root := golden.Root(t)
	if _, err := os.Stat(filepath.Join(root, "..", "shared", "corpus", "sentry")); err != nil {
		files, err := filepath.Glob(filepath.Join(root, "testdata", "cases", "sdk-*-v*", "in.envelope"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			envelopes = append(envelopes, text)
		}
		return envelopes
	}
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

// readdressed removes the DSN from the header of an envelope, because it must not contradict the request.
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

// pythonChunk returns ten threads at 101 Hz for 6 s: as many samples as one thread has in a minute.
func pythonChunk() harness.Request {
	const samples, threads, stacks, depth, frames = 6060, 10, 300, 20, 400
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
			micros := i / threads * 9901
			b = append(b, `{"timestamp":`...)
			b = appendInt(b, 1700000000+micros/1e6)
			b = append(b, '.')
			b = append(b, strconv.Itoa(1e6 + micros%1e6)[1:]...)
			b = append(b, `,"thread_id":"`...)
			b = appendInt(b, 140100440659648+i%threads)
			b = append(b, `","stack_id":`...)
			b = appendInt(b, (i%threads*30+i/70)%stacks) // each stack repeats for a while
			return append(b, '}')
		}),
		Threads: harness.List(threads, func(b []byte, i int) []byte {
			return append(appendInt(append(b, '"'), 140100440659648+i), `":{"name":"worker"}`...)
		}),
	}.Request()
}
