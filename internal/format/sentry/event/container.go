// SPDX-License-Identifier: Apache-2.0

package event

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Container has the common fields of "log", "span" and "trace_metric" payloads.
// https://develop.sentry.dev/sdk/foundations/envelopes/item-containers/
type Container struct {
	Version        jsonscan.Optional[int64] // absent from many SDKs, else 2
	IngestSettings IngestSettings

	Lost  []discard.Loss // unusable elements
	Flaws []discard.Flaw
}

// IngestSettings tell the server whether to complete elements from the request: "auto" or "never".
// They apply since version 2.
type IngestSettings struct {
	InferIP        string
	InferUserAgent string
}

// infers returns whether the SDK asks the server to complete elements with the client's address,
// and with its user agent. legacy is the answer for the latter before version 2.
func (c *Container) infers(legacy bool) (address, userAgent bool) {
	switch {
	case !c.Version.Set || c.Version.Value == 1:
		return false, legacy
	case c.Version.Value == 2:
		return c.IngestSettings.InferIP == InferAuto, c.IngestSettings.InferUserAgent == InferAuto
	}
	return false, false
}

// Infers reports whether to complete the client's address and the user agent. Before version 2,
// ingest set the user agent of every log (relay-server/src/processing/logs/process.rs).
func (c *LogContainer) Infers() (address, userAgent bool) { return c.infers(true) }

// Infers reports the same for spans and metrics (relay-server/src/processing/spans,
// trace_metrics).
func (c *Container) Infers() (address, userAgent bool) { return c.infers(false) }

// decodeContainer reads a container and its elements. `read` reads one element and returns the
// reason why it is unusable, or "".
//
// Sentry's ingest drops a container if item_count in the item header differs from the number of
// elements. Here, this is only a flaw, because the elements are unambiguous.
func decodeContainer[T any](payload []byte, itemCount jsonscan.Optional[int], all *[]T, read func(*T, *reader) discard.Reason) (Container, error) {
	var c Container
	l := newReader(payload)
	elements, found := 0, false
	err := l.Document(func(key []byte) {
		switch string(key) {
		default:
			Containers.member(l, &c, key, new(int))
		case "items":
			found = true
			skipped := l.List("items", func() {
				elements++
				if reason := read(grow(all), l); reason != "" {
					shrink(all)
					c.Lost = discard.AddLoss(c.Lost, reason, 1)
				}
			})
			if elements += skipped; skipped > 0 {
				c.Lost = discard.AddLoss(c.Lost, jsonscan.ReasonTooManyElements, skipped)
			}
		}
	})
	if itemCount.Set && itemCount.Value != elements {
		l.AddFlaw("item_count")
	}
	c.Flaws = l.Flaws
	switch {
	case err != nil:
		return c, err
	case !found:
		return c, discard.Errorf(jsonscan.ReasonNothingUsable, "container without items")
	case len(*all) == 0 && elements > 0:
		return c, discard.Errorf(c.Lost[0].Reason, "none of %d elements is usable", elements)
	}
	return c, nil
}

// containers is the table of Container, except for its elements.
var Containers = newTable[Container]("", nil,
	integer("version", func(c *Container) *jsonscan.Optional[int64] { return &c.Version }),
	object("ingest_settings", ingestSettings, func(c *Container) *IngestSettings { return &c.IngestSettings }),
)

var ingestSettings = newTable[IngestSettings]("ingest_settings", nil,
	text("infer_ip", func(s *IngestSettings) *string { return &s.InferIP }),
	text("infer_user_agent", func(s *IngestSettings) *string { return &s.InferUserAgent }),
)
