// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkFrames compares ReadFrames with ReadEnvelope: the same items or the same error, and parts
// that make up the same envelope.
func checkFrames(t *testing.T, body []byte) {
	t.Helper()
	want, wantErr := ReadEnvelope(body)
	frames, err := ReadFrames(body)
	require.Equal(t, wantErr, err)
	require.Len(t, frames.Items, len(want.Items))
	for i := range want.Items {
		require.Equal(t, want.Items[i], frames.Items[i].Item)
	}
	if err != nil {
		return
	}
	again, err := ReadEnvelope(frames.Append(nil))
	require.NoError(t, err)
	require.Equal(t, want.Header, again.Header)
	require.Len(t, again.Items, len(want.Items))
	for i := range want.Items {
		require.Equal(t, want.Items[i].Header, again.Items[i].Header)
		require.Equal(t, string(want.Items[i].Payload), string(again.Items[i].Payload))
	}
}

// TestFramesKeepEveryByte: what a future SDK sends is forwarded as it was, with an item less.
func TestFramesKeepEveryByte(t *testing.T) {
	const header = `{"event_id":"9ec79c33-ec99-42ab-8353-589fcb2e04dc", "new":{"sent_at":1},"trace":{"x":[1,2]}}`
	first, second := `{"type":"event","future":{"a":1}}`+"\n{\"e\":1}\n", `{"type":"never_seen","length":3,"z":0}`+"\na\nb\n"
	last := `{"type":"session"}` + "\n{}"
	f, err := ReadFrames([]byte(header + "\n" + first + second + last))
	require.NoError(t, err)
	assert.Equal(t, header+"\n"+first+second+last+"\n", string(f.Append(nil)))

	f.Items = f.Items[1:]
	assert.Equal(t, header+"\n"+second+last+"\n", string(f.Append(nil)))
}

func TestReadFrames(t *testing.T) {
	for _, body := range []string{
		"", "{}", "{}\n", " \n{}\n{\"type\":\"event\"}\n{}\n\n", "{}\r\n{\"type\":\"a\",\"length\":1}\r\nx\r\n{\"type\":\"b\"}\r\n",
		"{}\n{\"type\":\"a\",\"length\":9}\nx", "{}\n{\"type\":\"a\"}", "{}\n{\"length\":0}\n\n{\"length\":2}\nab", "{}x", "{}\n[1]\n",
		"{\n\"a\":\n1}\n{\n\"type\":\"a\"}\nx", "{}\n{\"length\":2}\nb\n", "{}\n{\"length\":0}", "{}\n{\"length\":0}\n", "{}\n{}\n\n", "{}\n{}\n",
	} {
		checkFrames(t, []byte(body))
	}
	_, err := ReadFrames([]byte("{}\n" + strings.Repeat("{}\n\n", MaxEnvelopeItems+1)))
	assert.ErrorContains(t, err, "envelope_too_many_items")
}

func TestEditHeader(t *testing.T) {
	dsn, key, sent := HeaderEdit{Key: "dsn", Value: `h"tp`}, HeaderEdit{Key: "trace", Inner: "public_key", Value: "new"}, HeaderEdit{Key: "sent_at", Value: "later"}
	for header, want := range map[string]string{
		`{}`: `{}`,
		`{ "dsn" : "https:\/\/a@b\/1" , "x":[{"dsn":"y"}],"sdk":{"dsn":"z"}}`:                 `{ "dsn" : "h\"tp" , "x":[{"dsn":"y"}],"sdk":{"dsn":"z"}}`,
		`{"trace":{"trace_id":"1","public_key":"old","dsn":"a"},"public_key":"old"}`:          `{"trace":{"trace_id":"1","public_key":"new","dsn":"a"},"public_key":"old"}`,
		`{"sent_at":"2026-01-01T00:00:00Z","dsn":null,"trace":{"public_key":{"sent_at":""}}}`: `{"sent_at":"later","dsn":null,"trace":{"public_key":{"sent_at":""}}}`,
		`{"sent_at":"a","trace":[],"dsn":"b"}`:                                                `{"sent_at":"later","trace":[],"dsn":"h\"tp"}`,
	} {
		assert.Equal(t, want, string(EditHeader([]byte(header), dsn, key, sent)))
		assert.Equal(t, header, string(EditHeader([]byte(header))))
	}
}
