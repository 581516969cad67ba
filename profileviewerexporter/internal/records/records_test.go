// SPDX-License-Identifier: Apache-2.0

package records

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// stored returns messages with 100 records each, of two services in turn, with all levels.
func stored(t *testing.T, count int) []*store.Message {
	s := store.New(1<<30, time.Hour)
	for from := 0; from < count; from += 100 {
		logs := plog.NewLogs()
		resource := logs.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", []string{"shop", "cart"}[from/100%2])
		list := resource.ScopeLogs().AppendEmpty().LogRecords()
		for i := from; i < min(from+100, count); i++ {
			record := list.AppendEmpty()
			record.SetTimestamp(pcommon.Timestamp(1000 + i))
			record.Body().SetStr(fmt.Sprint("Record ", i))
			record.Attributes().PutStr("order", fmt.Sprint("o-", i))
			if i%2 == 0 {
				record.SetSeverityNumber(plog.SeverityNumber(1 + i%24))
			} else {
				record.SetSeverityText("Warning")
			}
		}
		_, err := s.AddLogs(t.Context(), logs, time.Now())
		require.NoError(t, err)
	}
	return s.Messages()
}

func list(t *testing.T, messages []*store.Message, query string) ListAnswer {
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	q, err := Parse(values)
	require.NoError(t, err)
	out, err := List(messages, q)
	require.NoError(t, err)
	return out
}

// TestPages: the pages of the list have every record once, the newest first.
func TestPages(t *testing.T) {
	messages := stored(t, 950)
	var bodies []string
	for offset := 0; offset < 1000; offset += 200 {
		page := list(t, messages, fmt.Sprint("offset=", offset))
		assert.Equal(t, 950, page.Count)
		sum := 0
		for _, n := range page.Activity {
			sum += n
		}
		assert.Equal(t, 950, sum)
		for _, r := range page.Records {
			bodies = append(bodies, r.Body)
		}
	}
	require.Len(t, bodies, 950)
	for i, body := range bodies {
		require.Equal(t, fmt.Sprint("Record ", 949-i), body)
	}
}

func TestFilters(t *testing.T) {
	messages := stored(t, 480)
	assert.Equal(t, 200, list(t, messages, "service=cart").Count)
	assert.Equal(t, 1, list(t, messages, "q=record+479").Count, "body, in any case")
	assert.Equal(t, 11, list(t, messages, "q=O-17").Count, "attributes")
	assert.Equal(t, 10, list(t, messages, "q=O-17&service=cart").Count)
	assert.Equal(t, 240+120, list(t, messages, "level=warn").Count, "severities by text and by number")
	assert.Equal(t, 10, list(t, messages, "after=1100&until=1109").Count)
	first := list(t, messages, "sort=time").Records[0]
	assert.Equal(t, "Record 0", first.Body)
	for _, query := range []string{"level=loud", "after=x", "sort=body"} {
		values, _ := url.ParseQuery(query)
		_, err := Parse(values)
		assert.Error(t, err, query)
	}
}

// TestReadIsBounded: a list reads the newest messages up to its limit, and counts the others.
func TestReadIsBounded(t *testing.T) {
	s := store.New(1<<30, time.Hour)
	const messages, size = 70, 1 << 20
	for range messages {
		logs := plog.NewLogs()
		logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(string(make([]byte, size)))
		_, err := s.AddLogs(t.Context(), logs, time.Now())
		require.NoError(t, err)
	}
	out := list(t, s.Messages(), "")
	t.Logf("%d of %d MiB", out.Count, maxRead>>20)
	assert.Equal(t, messages, out.Count+out.Unread)
	assert.Less(t, out.Count*size, maxRead)
	assert.Greater(t, out.Count*size, maxRead-2*size)
}
