// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestOutputIsIndependentOfTheBody: bodies are reused while pipelines hold the output, and programs
// are remembered longer than that.
func TestOutputIsIndependentOfTheBody(t *testing.T) {
	items := 0
	for _, r := range golden.Corpus(t) {
		body := slices.Clone(r.Decoded(t))
		if !testsize.Full() && len(body) > 100_000 {
			continue
		}
		envelope, err := sentry.ReadEnvelope(body)
		if err != nil {
			continue
		}
		translation := sentryitems.New(envelope, sentryitems.Sender{ProjectID: "1"}, sentryitems.DefaultSettings(),
			func(pipeline.Signal) bool { return true }, time.Unix(1_800_000_000, 0))
		var out []sentryitems.Delivery
		for item := range sentryitems.Ordered(envelope.Items) {
			if _, translated := sentryitems.Types[item.Header.Type]; translated {
				out = append(out, translation.Translate(item).Deliveries...)
			}
		}
		before, stated := marshalled(t, out), names(translation)
		for i := range body {
			body[i] = '#'
		}
		assert.Equal(t, before, marshalled(t, out), r.Name)
		assert.Equal(t, stated, names(translation), r.Name)
		items += len(out)
	}
	assert.Greater(t, items, 100)
}

// names returns a copy of the names of the stated identity.
func names(translation *sentryitems.Translation) string {
	id := translation.Stated()
	return fmt.Sprintf("%q", []string{id.Platform, id.Release, id.Dist, id.Environment, id.Sdk.Name, id.Sdk.Version})
}

func marshalled(t *testing.T, out []sentryitems.Delivery) (all []string) {
	for _, d := range out {
		var text []byte
		var err error
		switch data := d.Message.Data().(type) {
		case ptrace.Traces:
			text, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(data)
		case plog.Logs:
			text, err = (&plog.ProtoMarshaler{}).MarshalLogs(data)
		case pmetric.Metrics:
			text, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(data)
		case pprofile.Profiles:
			text, err = (&pprofile.ProtoMarshaler{}).MarshalProfiles(data)
		}
		require.NoError(t, err)
		all = append(all, string(text))
	}
	return all
}
