// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

// readSentry reads the profiles, traces and logs of an envelope. Metrics are losses.
func readSentry(data []byte, o importer.Options) (out Content, err error) {
	envelope, err := ReadEnvelope(data)
	if err != nil {
		return out, err
	}
	e := Examine(envelope, sentryitems.DefaultSettings(), o.Start)
	for i := range e.Items {
		item := &e.Items[i]
		used, metrics := false, 0
		for _, d := range item.Deliveries {
			if out.add(d.Message.Data()) {
				used = true
			} else {
				metrics++
			}
		}
		switch name := string(item.Header.Type); {
		case item.Unusable != nil:
			out.Losses = append(out.Losses, importer.Loss{What: name + " that is unusable: " + item.Unusable.Error(), Count: 1})
		case !used:
			out.Losses = append(out.Losses, importer.Loss{What: name + " that has no profile, span or log record", Count: 1})
		default:
			if metrics > 0 {
				out.Losses = append(out.Losses, importer.Loss{What: "message of metrics of a " + name, Count: metrics})
			}
			for _, l := range item.Losses() {
				out.Losses = append(out.Losses, importer.Loss{What: l.What + " of a " + name + ": " + l.Reason, Count: l.Count})
			}
		}
	}
	if len(out.Profiles)+len(out.Traces)+len(out.Logs) == 0 {
		err = errors.New("it has no usable profile, span or log record")
	}
	return out, err
}

// add adds a message. It reports false for a signal that a Content cannot hold.
func (c *Content) add(message any) bool {
	switch message := message.(type) {
	case pprofile.Profiles:
		c.Profiles = append(c.Profiles, message)
	case ptrace.Traces:
		c.Traces = append(c.Traces, message)
	case plog.Logs:
		c.Logs = append(c.Logs, message)
	default:
		return false
	}
	return true
}
