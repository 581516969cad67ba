// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// reader reads events, spans, logs and metrics.
type reader struct {
	jsonscan.Lenient

	// Lists of which there is one in each of a thousand elements. They grow here, and are copied when their size is known.
	attributeBuf []Attribute
	valueBuf     []NamedValue
}

func newReader(payload []byte) reader { return reader{Lenient: jsonscan.NewLenient(payload)} }
