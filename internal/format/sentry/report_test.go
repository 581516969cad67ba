// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestReadReports: each report is an item; those before the first that is none are not lost.
func TestReadReports(t *testing.T) {
	header := ItemHeader{Type: ItemEvent}
	for body, want := range map[string][]string{
		`{"a":1}`: {`{"a":1}`}, ` [ {"a":1} , {"b":2} ] `: {`{"a":1}`, `{"b":2}`}, `[]`: nil,
		`[{"a":1},7,{"b":2}]`: {`{"a":1}`}, `[{"a":1},{"b":`: {`{"a":1}`}, `7`: nil, `{"a":1}x`: {`{"a":1}`}, ``: nil,
		`[` + strings.Repeat(`{},`, MaxEnvelopeItems-1) + `{}]`: nil, `[` + strings.Repeat(`{},`, MaxEnvelopeItems) + `{}]`: nil,
	} {
		e, err := ReadReports([]byte(body), header)
		if len(body) > 100 {
			assert.Len(t, e.Items, MaxEnvelopeItems)
			assert.Equal(t, strings.Count(body, "{") > MaxEnvelopeItems, err != nil)
			continue
		}
		var got []string
		for _, item := range e.Items {
			assert.Equal(t, header, item.Header)
			got = append(got, string(item.Payload))
		}
		assert.Equal(t, want, got, body)
		switch body {
		case `{"a":1}`, ` [ {"a":1} , {"b":2} ] `, `[]`:
			require.NoError(t, err, body)
		default:
			require.ErrorContains(t, err, string(jsonscan.ReasonMalformed), body)
		}
	}
}
