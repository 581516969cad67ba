// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/frommeasure"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// typeMethodTrace is the type of files with a method trace of the Android runtime. Only SDKs before
// 0.3.0 (2024) send them.
const typeMethodTrace = "android_method_trace"

// tracePeriod is the interval at which Android samples methods by default.
const tracePeriod = 10 * time.Millisecond

// errTraceTooLarge is the error for a trace whose translation could need more than half of
// max_bytes_in_flight.
var errTraceTooLarge = &discard.Error{Reason: discard.ReasonExceedSizeLimit, Detail: "method trace too large for max_bytes_in_flight"}

// deliverTrace translates a stored method trace and delivers the profile, unless that was done
// before. An unusable trace is counted. A rejection makes the SDK resend the file.
func (r *measureReceiver) deliverTrace(ctx context.Context, a *app, f frommeasure.File, attributes *measure.Attributes, accepted *dedup.Parts) *rejection {
	d := delivery{signal: pipeline.SignalProfiles}
	if f.Type != typeMethodTrace || f.Path == "" || !r.pipelines.Has(d.signal) || *accepted&d.part() != 0 {
		return nil
	}
	claim := r.inFlight.Claim(ctx)
	defer claim.Release()
	claim.SetTenant(a.tenant())
	trace, err := r.readTrace(f, claim)
	if errors.Is(err, httpbody.ErrNoMemory) {
		return busy(reasonBytesInFlight)
	}
	if err != nil {
		r.logger.Debug("Method trace discarded", zap.Error(err))
		r.telemetry.itemsDone(ctx, typeMethodTrace, pipeline.Discarded, traceReason(err), 1)
		*accepted |= d.part()
		return nil
	}
	d.translate = func() (pipeline.Message, bool) {
		return pipeline.Profiles(frommeasure.MethodTraceToProfiles(trace, f, attributes, r.source(a, time.Now()))), true
	}
	o, reason := r.deliver(ctx, &d)
	r.telemetry.itemsDone(ctx, typeMethodTrace, o, reason, 1)
	if o == pipeline.Refused {
		return busy(reason)
	}
	*accepted |= d.part()
	return nil
}

// readTrace decodes a stored file. SDKs may have compressed it.
func (r *measureReceiver) readTrace(f frommeasure.File, claim *httpbody.Claim) (*fromandroid.Trace, error) {
	if err := r.reserveTrace(f.Size, claim); err != nil {
		return nil, err
	}
	data, err := r.attachments.Read(strings.TrimPrefix(f.Path, r.attachments.Directory+"/"))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		body, err := httpbody.Decoded(data, "gzip", r.cfg.Attachments.MaxSize[typeMethodTrace], claim)
		if err != nil {
			return nil, err
		}
		defer body.Release() // a trace is a copy
		data = body.Data
		if err := r.reserveTrace(int64(len(data)), claim); err != nil {
			return nil, err
		}
	}
	return fromandroid.MethodTrace(data, tracePeriod, attr.SpareObservations)
}

func (r *measureReceiver) reserveTrace(size int64, claim *httpbody.Claim) error {
	weight := fromandroid.Weight(size)
	if weight > r.cfg.MaxBytesInFlight/2 {
		return errTraceTooLarge
	}
	return claim.Acquire(weight)
}

// traceReason returns the reason why a trace is unusable.
func traceReason(err error) string {
	if why, ok := errors.AsType[*discard.Error](err); ok {
		return string(why.Reason)
	}
	return reasonStorage
}
