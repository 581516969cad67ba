// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// TestLayoutForgets: a sample with more members than the fast path knows is not remembered member
// by member, and a released decoder holds nothing of the payload.
func TestLayoutForgets(t *testing.T) {
	flood := `{"version":"2","profile":{"samples":[{` + strings.Repeat(`"":1,`, 100_000) +
		`"timestamp":1777629600,"thread_id":"1","stack_id":0}],"stacks":[[]],"frames":[]}}`
	d := new(Decoder)
	c, err := d.Chunk([]byte(flood))
	require.NoError(t, err)
	require.Equal(t, 1, c.Samples.Len())
	require.LessOrEqual(t, cap(d.template.parts), 8)
	d.reset(formatV1, nil)
	require.Empty(t, d.template.parts)
	require.Nil(t, d.template.suffix)
}

// TestNullTakesNothing: of a field with two names, a null under one does not erase what the other
// gave.
func TestNullTakesNothing(t *testing.T) {
	p, err := new(Decoder).Profile([]byte(`{"version":"1","event_id":"aa","profile_id":null,"transactions":[{"id":"bb"}],
	 "transaction":null,"profile":{"samples":[{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0}],"stacks":[[]]}}`))
	require.NoError(t, err)
	require.Equal(t, "aa", p.EventID)
	require.NotNil(t, p.Transaction)
	require.Equal(t, "bb", p.Transaction.ID)
}

// TestContainerBeyondItsBound: elements beyond the bound are lost, counted, and no contradiction to
// item_count.
func TestContainerBeyondItsBound(t *testing.T) {
	const elements = jsonscan.MaxElements + 7
	payload := `{"items":[` + strings.Repeat(`{"body":"x"},`, elements-1) + `{"body":"x"}]}`
	c, err := event.DecodeLogs([]byte(payload), jsonscan.Some(elements))
	require.NoError(t, err)
	require.Len(t, c.Logs, jsonscan.MaxElements)
	require.Equal(t, []discard.Loss{{Reason: jsonscan.ReasonTooManyElements, Count: 7}}, c.Lost)
	for _, flaw := range c.Flaws {
		require.NotEqual(t, "item_count", flaw.Field)
	}
}
