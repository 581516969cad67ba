// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
)

// Request is a request as the schedule knows it. Callers embed it.
type Request struct {
	Project  string // the tenant
	Received time.Time
	Weight   int64 // bytes; must not change while the request is in the schedule

	health health.Message
	due    time.Time

	// Of the current attempt.
	source source
	probe  bool
}

// Scheduled returns the request itself. It implements Entry for types that embed Request.
func (r *Request) Scheduled() *Request { return r }

// Entry is a type that embeds Request.
type Entry interface{ Scheduled() *Request }

// source is the queue that an attempt comes from.
type source int

const (
	fromFresh source = iota
	fromWaiting
	fromAgain
)
