// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"time"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// message is what is kept and let go together: a message of a pipeline.
type message struct {
	signal   string
	project  string // of its first resource; who shares the store
	arrived  time.Time
	otlp     []byte // encoded
	profiles []*profileSummary
	traces   []*traceShare // of spans and log records
}

// projectOf returns the tenant of a resource: the project that our receivers authorized. Resources without a project share one:
// any other name a client may invent.
func projectOf(resource pcommon.Resource) string {
	if id, ok := resource.Attributes().Get(semconv.SentryProjectID); ok {
		return shorten(id.AsString())
	}
	return ""
}

// size is how many bytes of memory the message takes, to a fifth. One with many spans has a large summary.
func (m *message) size() int64 {
	size := perMessage + len(m.project) + len(m.otlp)
	for _, p := range m.profiles {
		size += int(unsafe.Sizeof(*p)) + perProfile + len(p.profileID) + len(p.name) + len(p.service) + len(p.measure.Type) + len(p.measure.Unit) + len(p.spans)*perSpan
		if len(p.spans) > 0 {
			size += perMap
		}
	}
	for _, t := range m.traces {
		size += int(unsafe.Sizeof(*t)) + len(t.root) + len(t.first) + len(t.service) + perTrace
	}
	return int64(size)
}

const (
	// perMessage: the message itself, its entry in the queue, and an entry of its own for its project.
	perMessage = 1 << 10
	// perTrace: a chain, an entry of it, and one of a map by trace.
	perTrace = int(unsafe.Sizeof(chain[kept]{})+unsafe.Sizeof(chained[kept]{})) + 4*int(unsafe.Sizeof(pcommon.TraceID{}))
	// perProfile: an entry of a map by id.
	perProfile = 64
	// perMap: a map of Go's has eight entries at least.
	perMap = 8 * int(unsafe.Sizeof(timeline.Link{})+unsafe.Sizeof(linked{}))
	// perSpan: an entry of a map by span, at the usual load of Go's maps, and one by trace.
	perSpan = 2*int(unsafe.Sizeof(timeline.Link{})+unsafe.Sizeof(linked{})) + perTrace
)

// profileSummary is one profile of a message.
type profileSummary struct {
	id       uint64 // ours, ascending
	message  *message
	position position

	service   string
	name      string // of the transaction, where the sender says it
	profileID string // hex; empty where the sender gives none
	measure   timeline.Measure
	start     uint64 // Unix nanoseconds
	end       uint64
	threads   int
	samples   int64
	weight    int64
	spans     map[timeline.Link]linked
	linking   []*chained[*profileSummary] // its entries in the store
}

// position is where in the message a profile is.
type position struct{ resource, scope, profile int }

// linked is what the samples of a span amount to.
type linked struct{ samples, weight int64 }

// traceShare is what one message has of a trace, or of no trace, from one service.
type traceShare struct {
	id         pcommon.TraceID
	service    string
	start, end uint64 // Unix nanoseconds
	spans      int
	errors     int // spans with the status error
	logs       int
	root       string         // name of the span without a parent; empty: not in this share
	first      string         // name of the earliest span
	kept       *chained[kept] // its entry in the store
}

// shares are those of a message that is being read.
type shares struct {
	message *message
	by      map[shareKey]*traceShare
}

type shareKey struct {
	id      pcommon.TraceID
	service string
}

func sharesOf(m *message) shares { return shares{m, map[shareKey]*traceShare{}} }

func (s shares) of(id pcommon.TraceID, service string) *traceShare {
	key := shareKey{id, service}
	share := s.by[key]
	if share == nil {
		share = &traceShare{id: id, service: service}
		s.by[key] = share
		s.message.traces = append(s.message.traces, share)
	}
	return share
}
