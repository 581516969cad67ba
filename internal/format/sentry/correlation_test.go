// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	idA = "0af7651916cd43dd8448eb211c80319c"
	idB = "9c591ba7112441251a254ccbe6cd23c4"
)

func TestCorrelationID(t *testing.T) {
	inHeader := &EnvelopeHeader{EventID: idB, Trace: &DynamicSamplingContext{TraceID: idA}}
	withoutTrace := &EnvelopeHeader{EventID: idB}
	for _, c := range []struct {
		item    ItemType
		payload string
		header  *EnvelopeHeader
		want    string
	}{
		{ItemTransaction, `{`, inHeader, idA},
		{ItemTransaction, `{"spans":[{"contexts":1}],"contexts":{"os":{"trace_id":"x"},"trace":{"op":"a","trace_id":"0AF76519-16cd-43dd-8448-eb211c80319c"}}}`, withoutTrace, idA},
		{ItemEvent, `{"contexts":{"trace":{}}}`, withoutTrace, idB},
		{ItemEvent, `{"contexts":[]}`, &EnvelopeHeader{}, ""},
		{ItemProfileChunk, `{"profiler_id":"` + idA + `"}`, inHeader, idA},
		{ItemReplayEvent, `{"replay_id":"` + idA + `"}`, withoutTrace, idA},
		{ItemReplayRecording, "{\"segment_id\":0}\n\x1f\x8b", withoutTrace, idB},
		{ItemSession, `{"sid":"Not-A-UUID"}`, inHeader, "not-a-uuid"},
		{ItemSpan, `{"trace_id":"` + idA + `"}`, withoutTrace, idA},
		{"new", `{"trace_id":"` + idA + `"}`, inHeader, idB},
	} {
		assert.Equal(t, c.want, CorrelationID(&Item{Header: ItemHeader{Type: c.item}, Payload: []byte(c.payload)}, c.header), "%s %s", c.item, c.payload)
	}
}

func TestFilterContainer(t *testing.T) {
	payload := `{"version":2, "items": [ {"trace_id":"` + idA + `","body":"a,]"} ,{"trace_id":"` + idB + `"}, {"x":1} ],"later":[1]}`
	for _, c := range []struct {
		keep          func(string) bool
		want          string
		kept, omitted int
	}{
		{func(string) bool { return true }, `{"version":2, "items": [{"trace_id":"` + idA + `","body":"a,]"},{"trace_id":"` + idB + `"},{"x":1}],"later":[1]}`, 3, 0},
		{func(id string) bool { return id == idB }, `{"version":2, "items": [{"trace_id":"` + idB + `"}],"later":[1]}`, 1, 2},
		{func(id string) bool { return id == "" }, `{"version":2, "items": [{"x":1}],"later":[1]}`, 1, 2},
		{func(string) bool { return false }, `{"version":2, "items": [],"later":[1]}`, 0, 3},
	} {
		filtered, kept, omitted, ok := FilterContainer([]byte(payload), c.keep)
		require.True(t, ok)
		assert.Equal(t, c.want, string(filtered))
		assert.Equal(t, []int{c.kept, c.omitted}, []int{kept, omitted})
	}
	for _, broken := range []string{``, `[]`, `{"items":{}}`, `{"items":[{]}`, `{"items":[{"trace_id":"a"}`, `{"trace_id":"a"}`} {
		_, _, _, ok := FilterContainer([]byte(broken), func(string) bool { return true })
		assert.False(t, ok, broken)
	}
}

func TestWithPayload(t *testing.T) {
	f, err := ReadFrames([]byte("{}\n" + `{"type":"log","item_count":3,"z":{"length":7},"length":12,"content_type":"x"}` + "\n" + `{"items":[1]}`[:12] + "\n" + `{"type":"log","item_count":1}` + "\n[]"))
	require.NoError(t, err)
	f.Items[0] = f.Items[0].WithPayload([]byte("[\n]"), 2)
	f.Items[1] = f.Items[1].WithPayload([]byte("{}"), 0)
	text := f.Append(nil)
	assert.Len(t, text, f.Size())
	assert.Equal(t, "{}\n"+`{"type":"log","item_count":2,"z":{"length":7},"length":3,"content_type":"x"}`+"\n[\n]\n"+`{"type":"log","item_count":0}`+"\n{}\n", string(text))
	again, err := ReadFrames(text)
	require.NoError(t, err)
	for i := range again.Items {
		assert.Equal(t, again.Items[i].Item, f.Items[i].Item)
	}
}
