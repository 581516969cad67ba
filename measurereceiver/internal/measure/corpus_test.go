// SPDX-License-Identifier: Apache-2.0

package measure_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// TestCorpus: what real SDKs have sent breaks no rule, and nothing of it is lost.
func TestCorpus(t *testing.T) {
	for _, request := range golden.MeasureCorpus(t) {
		var plain struct{ Events, Spans []json.RawMessage }
		require.NoError(t, json.Unmarshal(request.Body, &plain))
		b, err := measure.DecodeJSON(request.Body, nil)
		require.NoError(t, err, request.Name)
		require.NoError(t, b.Validate(measure.Strict), request.Name)
		assert.Empty(t, b.Flawed, request.Name)
		assert.Len(t, b.Events, len(plain.Events), request.Name)
		assert.Len(t, b.Spans, len(plain.Spans), request.Name)
	}
}
