// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestFrameTypes: a frame whose platform differs from the profile's has its own frame type.
func TestFrameTypes(t *testing.T) {
	d := new(profile.Decoder)
	c, err := d.Chunk([]byte(`{"version":"2","platform":"javascript","profile":{"samples":[{"timestamp":1777629600,"thread_id":"1","stack_id":0}],"stacks":[[0,1,2,3]],` +
		`"frames":[{"function":"own"},{"function":"same","platform":"javascript"},{"function":"other","platform":"cocoa"},{"function":"unknown","platform":"pascal"}]}}`))
	require.NoError(t, err)
	profiles := fromsentry.ChunkToProfiles(c, fromsentry.Source{})
	view := dictionary.NewView(profiles.Dictionary())
	got := map[string]string{}
	for _, location := range profiles.Dictionary().LocationTable().All() {
		for _, line := range location.Lines().All() {
			name := view.Text(dictionary.StringIndex(profiles.Dictionary().FunctionTable().At(int(line.FunctionIndex())).NameStrindex()))
			if value, has := view.Get(location.AttributeIndices(), semconv.ProfileFrameType); has {
				got[name] = value.Str()
			} else {
				got[name] = ""
			}
		}
	}
	assert.Equal(t, map[string]string{"own": "v8js", "same": "v8js", "other": "native", "unknown": ""}, got)
}

// TestReadPoints: a value or time that JSON cannot represent drops only its point.
func TestReadPoints(t *testing.T) {
	series := func(times, values []any) pcommon.Map {
		m := pcommon.NewMap()
		require.NoError(t, m.FromRaw(map[string]any{attr.KeyTimestamp: times, attr.KeyValue: values}))
		return m
	}
	for _, bad := range []any{math.Inf(1), math.Inf(-1), math.NaN(), "text", true} {
		for _, m := range []pcommon.Map{series([]any{1.0, bad, 3.0}, []any{10.0, 20.0, int64(30)}), series([]any{1.0, 2.0, int64(3)}, []any{10.0, bad, 30.0, 40.0})} {
			e := &Export{}
			assert.Equal(t, []profile.MeasurementValue{{Timestamp: 1, Value: 10}, {Timestamp: 3, Value: 30}}, readPoints(m, 0, e), bad)
			assert.Equal(t, []discard.Flaw{{Field: "measurement_value", Count: 1}}, e.Flaws)
		}
	}
}
