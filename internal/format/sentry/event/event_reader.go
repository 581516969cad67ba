// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// reader reads events, spans, logs and metrics.
type reader struct {
	jsonscan.Lenient

	// Buffers for lists that occur in each of a thousand elements. A list is copied once its length
	// is known.
	attributeBuf []Attribute
	valueBuf     []NamedValue
}

func newReader(payload []byte) reader { return reader{Lenient: jsonscan.NewLenient(payload)} }
