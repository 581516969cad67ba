// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/mapping"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// outgoing converts requests of clients to requests for Sentry. Most stay unchanged.
type outgoing struct {
	destinations *mapping.Destinations
	rates        omit.Rates
	limits       *keyLimits // nil = SDKs receive Sentry's limits and obey them
	room         *httpbody.Budget
}

// prepared is a request for Sentry, and the data omitted from it.
type prepared struct {
	request *request // nil = everything was omitted
	omitted omit.Losses
	claim   *httpbody.Claim // memory of a rewritten body; nil = not rewritten
}

// errNoUpstream is the error for requests of a project that is not configured, if there is no
// upstream for other projects.
var errNoUpstream = errors.New("the project has no upstream")

const (
	// maxRewritten is the maximum decoded size of a body that is rewritten: the largest profile
	// that Sentry accepts fits. Larger bodies are forwarded unchanged, and Sentry applies its
	// limits itself.
	maxRewritten = sentry.MaxProfileSize + 1<<20

	// rewriteBytes is the memory for bodies that are rewritten, see httpbody.MaxPerRequest. It is
	// not part of max_bytes_in_flight, because waiting requests could use up all of that, and then
	// none could be sent.
	rewriteBytes = 3*maxRewritten + httpbody.MaxWindow

	// lateAfter is the waiting time after which the sent_at of a request is adjusted. Sentry
	// corrects clocks that are wrong by 55 minutes.
	lateAfter = 2 * time.Minute
)

func newOutgoing(cfg *Config, limits *keyLimits) *outgoing {
	o := &outgoing{destinations: cfg.destinations(), rates: omit.NewRates(cfg.Forward), room: httpbody.NewBudget(rewriteBytes, func(context.Context, int64) {})}
	if !cfg.passesLimitsOn() {
		o.limits = limits
	}
	return o
}

// prepare returns the request that Sentry receives. The error is httpbody.ErrNoMemory,
// errNoUpstream, or the error of the context.
func (o *outgoing) prepare(ctx context.Context, r *request, now time.Time) (prepared, error) {
	to := o.destinations.Of(r.Project)
	if to == nil {
		return prepared{}, errNoUpstream
	}
	r = r.mappedTo(to)
	if r.Endpoint == endpointReport {
		return prepared{request: r}, nil
	}
	out := selection{Selection: omit.Selection{Rates: o.rates, Now: now}}
	if o.limits != nil {
		out.Limits = o.limits.of(r.key())
	}
	delay := now.Sub(r.Received)
	switch {
	case !r.hasEnvelope():
		return out.single(r), nil
	case len(o.rates) == 0 && out.Limits == nil && delay < lateAfter && !to.IsMapped():
		return prepared{request: r}, nil // the usual case
	}
	claim := o.room.Claim(ctx)
	claim.SetTenant(r.Project)
	p, err := out.rewrite(r, to, delay, claim)
	if p.claim == nil {
		claim.Release()
	} else {
		claim.ShrinkTo(int64(len(p.request.Body)))
	}
	if err == nil || errors.Is(err, httpbody.ErrNoMemory) || ctx.Err() != nil {
		return p, err
	}
	return prepared{request: r}, nil // Sentry reports the error to the client
}

// selection is an omit.Selection that also rewrites requests.
type selection struct{ omit.Selection }

// rewrite removes omitted items from an envelope, adjusts its sent_at and replaces its keys. If
// nothing changes, the body keeps its bytes.
func (s *selection) rewrite(r *request, to *mapping.Destination, delay time.Duration, claim *httpbody.Claim) (prepared, error) {
	coding := httpbody.Coding(r.Header["Content-Encoding"])
	body, err := httpbody.Decoded(r.Body, coding, maxRewritten, claim)
	if err != nil {
		return prepared{}, err
	}
	defer body.Release()
	frames, err := sentry.ReadFrames(body.Data)
	if err != nil {
		return prepared{}, err
	}
	if s.Header, err = sentry.ReadEnvelopeHeader(body.Data); err != nil {
		return prepared{}, err
	}
	before := len(frames.Items)
	frames.Items = s.Filter(frames.Items)
	if before > 0 && len(frames.Items) == 0 {
		return prepared{omitted: s.Omitted}, nil
	}
	header := sentry.EditHeader(frames.Header, append(to.EnvelopeEdits(), s.edits(delay)...)...)
	if len(s.Omitted) == 0 && bytes.Equal(header, frames.Header) {
		return prepared{request: r}, nil
	}
	frames.Header = header
	size := frames.Size()
	if err := claim.Acquire(2 * int64(size)); err != nil { // decompressed and compressed
		return prepared{}, err
	}
	return prepared{request: r.withBody(frames.Append(make([]byte, 0, size)), coding), omitted: s.Omitted, claim: claim}, nil
}

// edits returns the changes to the header of the envelope.
func (s *selection) edits(delay time.Duration) (edits []sentry.HeaderEdit) {
	if delay >= lateAfter && !s.Header.SentAt.IsZero() {
		// Sentry treats the time between sent_at and the arrival as an error of the client's clock,
		// and would shift all times by it.
		edits = append(edits, sentry.HeaderEdit{Key: "sent_at", Value: s.Header.SentAt.Add(delay).Format(time.RFC3339Nano)})
	}
	return edits
}

// single prepares a request that consists of one item.
func (s *selection) single(r *request) prepared {
	item := sentry.Item{Header: sentry.ItemHeader{Type: itemOf[r.Endpoint]}, Payload: r.Body}
	if len(r.Body) == 0 {
		item.Payload = []byte(r.Target) // the data is in the query
	}
	if !s.Admits(&item) {
		return prepared{omitted: s.Omitted}
	}
	return prepared{request: r}
}

// itemOf maps each endpoint that does not accept envelopes to its item type.
var itemOf = map[string]sentry.ItemType{
	endpointStore: sentry.ItemEvent, endpointSecurity: sentry.ItemRawSecurity, endpointCSPReport: sentry.ItemRawSecurity, endpointNel: sentry.ItemNel,
	endpointCron: sentry.ItemCheckIn, endpointOTLPTraces: sentry.ItemOtelTracesData, endpointOTLPLogs: sentry.ItemOtelLogsData,
	endpointOTLPMetrics: sentry.ItemOtelMetricsData, endpointOTLPProfiles: sentry.ItemOtelProfilesData,
}

// withBody returns the request with another body, which is compressed if the original one is.
func (r *request) withBody(body []byte, coding string) *request {
	changed := *r
	changed.Body = body
	if coding == httpbody.Identity {
		return &changed
	}
	changed.Header = r.Header.Clone()
	changed.Header["Content-Encoding"] = []string{httpbody.Gzip}
	changed.Body = compress(body)
	return &changed
}

var compressors = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

func compress(body []byte) []byte {
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	var compressed bytes.Buffer
	w.Reset(&compressed)
	_, _ = w.Write(body) // writes to memory cannot fail
	_ = w.Close()
	return compressed.Bytes()
}

// hasEnvelope reports whether the body is an envelope.
func (r *request) hasEnvelope() bool {
	switch r.Endpoint {
	case endpointEnvelope, endpointTunnel:
		return true
	case endpointStore:
		return r.Header.Get("Content-Type") == sentry.ContentTypeEnvelope
	}
	return false
}
