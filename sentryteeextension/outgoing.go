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
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// outgoing turns the requests of clients into those that Sentry gets. Nearly all are the same.
type outgoing struct {
	destinations *destinations
	rates        omit.Rates
	limits       *keyLimits // nil = SDKs follow Sentry's limits themselves
	room         *httpbody.Budget
}

// prepared is a request for Sentry.
type prepared struct {
	request *request // nil = nothing is left of it
	omitted omit.Losses
	claim   *httpbody.Claim // for its own body; nil = it has none
}

const (
	// maxRewritten bounds the bodies that are rewritten, decoded: the largest profile that Sentry accepts fits. Larger ones are forwarded
	// as they are, and Sentry applies its limits itself.
	maxRewritten = sentry.MaxProfileSize + 1<<20

	// rewriteBytes is the memory for bodies that are rewritten, see httpbody.MaxPerRequest. It is not part of max_bytes_in_flight: requests
	// that wait there could take all of it, and then none could be sent.
	rewriteBytes = 3*maxRewritten + httpbody.MaxWindow

	// lateAfter is how long a request may wait before its sent_at is moved. Sentry corrects clocks that are wrong by 55 minutes.
	lateAfter = 2 * time.Minute
)

func newOutgoing(cfg *Config, limits *keyLimits) *outgoing {
	o := &outgoing{destinations: newDestinations(cfg), rates: omit.NewRates(cfg.Forward), room: httpbody.NewBudget(rewriteBytes, func(context.Context, int64) {})}
	if !cfg.passesLimitsOn() {
		o.limits = limits
	}
	return o
}

// prepare returns what Sentry gets of a request. The error is httpbody.ErrNoMemory, errNoUpstream, or that of the context.
func (o *outgoing) prepare(ctx context.Context, r *request, now time.Time) (prepared, error) {
	to := o.destinations.of(r.Project)
	if to == nil {
		return prepared{}, errNoUpstream
	}
	r = to.mapped(r)
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
	case len(o.rates) == 0 && out.Limits == nil && delay < lateAfter && !to.isMapped():
		return prepared{request: r}, nil // the rule
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
	return prepared{request: r}, nil // Sentry says what is wrong with it
}

// selection makes requests of what is selected.
type selection struct{ omit.Selection }

// rewrite removes omitted items from an envelope, moves its sent_at and maps its keys. The bytes stay if nothing changes.
func (s *selection) rewrite(r *request, to *destination, delay time.Duration, claim *httpbody.Claim) (prepared, error) {
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
	header := sentry.EditHeader(frames.Header, append(to.envelopeEdits(), s.edits(delay)...)...)
	if len(s.Omitted) == 0 && bytes.Equal(header, frames.Header) {
		return prepared{request: r}, nil
	}
	frames.Header = header
	size := frames.Size()
	if err := claim.Acquire(2 * int64(size)); err != nil { // plain and compressed
		return prepared{}, err
	}
	return prepared{request: r.withBody(frames.Append(make([]byte, 0, size)), coding), omitted: s.Omitted, claim: claim}, nil
}

// edits returns the changes to the header of the envelope.
func (s *selection) edits(delay time.Duration) (edits []sentry.HeaderEdit) {
	if delay >= lateAfter && !s.Header.SentAt.IsZero() {
		// Sentry takes what lies between sent_at and the arrival for the error of the client's clock, and would move all times.
		edits = append(edits, sentry.HeaderEdit{Key: "sent_at", Value: s.Header.SentAt.Add(delay).Format(time.RFC3339Nano)})
	}
	return edits
}

// single prepares a request that is an item by itself.
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

// itemOf are the items that requests without an envelope are.
var itemOf = map[string]sentry.ItemType{
	endpointStore: sentry.ItemEvent, endpointSecurity: sentry.ItemRawSecurity, endpointCSPReport: sentry.ItemRawSecurity, endpointNel: sentry.ItemNel,
	endpointCron: sentry.ItemCheckIn,
}

// withBody returns the request with another body, compressed if the one before was.
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
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level exists
	return w
}}

func compress(body []byte) []byte {
	w := compressors.Get().(*gzip.Writer)
	defer compressors.Put(w)
	var compressed bytes.Buffer
	w.Reset(&compressed)
	_, _ = w.Write(body) // into memory
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
