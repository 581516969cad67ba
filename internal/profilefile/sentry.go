// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
)

// readSentry reads the items of an envelope.
func readSentry(data []byte, o importer.Options) (out Content, err error) {
	envelope, err := ReadEnvelope(data)
	if err != nil {
		return out, err
	}
	e := Examine(envelope, sentryitems.DefaultSettings(), o.Start)
	for i := range e.Items {
		item := &e.Items[i]
		for _, d := range item.Deliveries {
			out.add(d.Message.Data())
		}
		switch name := string(item.Header.Type); {
		case item.Unusable != nil:
			out.Losses = append(out.Losses, importer.Loss{What: name + " that is unusable: " + item.Unusable.Error(), Count: 1})
		case len(item.Deliveries) == 0:
			out.Losses = append(out.Losses, importer.Loss{What: name + " without data", Count: 1})
		default:
			for _, l := range item.Losses() {
				out.Losses = append(out.Losses, importer.Loss{What: l.What + " of a " + name + ": " + l.Reason, Count: l.Count})
			}
		}
	}
	if len(out.Profiles)+len(out.Traces)+len(out.Logs)+len(out.Metrics) == 0 {
		err = errors.New("it has no usable profile, span, log record or metric")
	}
	return out, err
}

// add adds a message.
func (c *Content) add(message any) {
	switch message := message.(type) {
	case pprofile.Profiles:
		c.Profiles = append(c.Profiles, message)
	case ptrace.Traces:
		c.Traces = append(c.Traces, message)
	case plog.Logs:
		c.Logs = append(c.Logs, message)
	case pmetric.Metrics:
		c.Metrics = append(c.Metrics, message)
	}
}
