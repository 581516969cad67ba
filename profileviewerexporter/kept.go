package profileviewerexporter

import (
	"time"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/timeline"
)

// message is what is kept and let go together: a message of a pipeline.
type message struct {
	signal   string
	arrived  time.Time
	otlp     []byte // encoded
	profiles []*profileSummary
	traces   []*traceShare // of spans and log records
}

// size is how many bytes of memory the message takes, as far as can be counted. One with many spans has a large summary.
func (m *message) size() int64 {
	size := perMessage + len(m.otlp)
	for _, p := range m.profiles {
		size += int(unsafe.Sizeof(*p)) + len(p.name) + len(p.service) + len(p.measure.Type) + len(p.measure.Unit) + len(p.spans)*perSpan
	}
	for _, t := range m.traces {
		size += int(unsafe.Sizeof(*t)) + len(t.root) + len(t.first) + len(t.service) + perTrace
	}
	return int64(size)
}

const (
	// perMessage: the message itself, its places in maps and lists.
	perMessage = 1 << 10
	// perTrace: an entry of a map by trace, and a list of its own.
	perTrace = 2*int(unsafe.Sizeof(pcommon.TraceID{})) + 96
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
	root       string // name of the span without a parent; empty: not in this share
	first      string // name of the earliest span
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
