// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// releaseReason is the reason why a message no longer waits.
type releaseReason string

const (
	releasedDue      releaseReason = "due"      // it waited for the configured time
	releasedFull     releaseReason = "full"     // the queue was full
	releasedShutdown releaseReason = "shutdown" // the collector shuts down
)

// enqueue holds a message until its spans have arrived. If the queue is full, it first releases
// messages of the tenant that uses the most. This runs in the goroutine of the sender, which slows
// the sender down to the pace of the next component. If there is still no space, enqueue refuses
// the message and leaves it unchanged.
//
// A message that cannot be stored is forwarded at once: with a storage, accepted messages must
// survive a crash, and the next component may have a persistent queue.
func (p *profilesProcessor) enqueue(ctx context.Context, profiles pprofile.Profiles) error {
	size := int64((&pprofile.ProtoMarshaler{}).ProfilesSize(profiles))
	if size > p.cfg.Link.MaxHeldBytes {
		return p.forwardNow(ctx, profiles)
	}
	h := &heldMessage{
		parts: []pprofile.Profiles{profiles}, client: client.FromContext(ctx), tenant: tenantOf(ctx, p.keys, profiles),
		arrived: time.Now(), bytes: size,
	}
	if p.cfg.Batch.enabled() {
		h.client, h.group = p.cfg.Batch.sender(h.tenant, h.client)
	}
	if d := p.reserve(ctx, h); d != admit {
		if d == bypass {
			return p.bypassQueue(ctx, profiles)
		}
		p.countOutcome(ctx, h.parts, outcomeRefused)
		return errQueueFull
	}
	if !p.persist(h) {
		p.queue.cancel(h)
		return p.forwardNow(ctx, profiles)
	}
	h.parts[0] = pprofile.NewProfiles()
	profiles.MoveTo(h.parts[0])
	p.compress(h, 0)
	p.queue.add(ctx, h)
	return nil
}

// reserve reserves memory in the queue for a message. It releases or drops other messages if
// necessary. If that fails, the decision states what to do with the message.
func (p *profilesProcessor) reserve(ctx context.Context, h *heldMessage) decision {
	for {
		switch d, other := p.queue.reserve(ctx, h, time.Now()); d {
		case release:
			p.release(other, releasedFull)
		case evict:
			p.drop(ctx, other, outcomeEvicted, "Profiles that waited for spans are lost: "+
				"the next component refuses them, and their tenant used more of the queue than another tenant that needed space")
		default:
			return d
		}
	}
}

// drop drops a message that the next component refused.
func (p *profilesProcessor) drop(ctx context.Context, h *heldMessage, o outcome, why string) {
	ctx = context.WithoutCancel(ctx)
	profiles := h.profiles()
	p.telemetry.countOutgoing(ctx, profiles, o)
	p.unpersist(h)
	p.logger.Warn(why, zap.Int64("profiles", profiles))
}

// bypassQueue forwards a message for which the queue has no memory, like forwardNow.
func (p *profilesProcessor) bypassQueue(ctx context.Context, profiles pprofile.Profiles) error {
	err := p.forwardNow(ctx, profiles)
	if err != nil && !collector.IsPermanent(err) {
		p.queue.bypassRefused(time.Now())
	}
	return err
}

// forwardNow links a message to the spans that have arrived and forwards it. The sender receives
// the error.
func (p *profilesProcessor) forwardNow(ctx context.Context, profiles pprofile.Profiles) error {
	p.linking.link(ctx, tenant.FromContext(ctx).String(), profiles, true)
	return p.forward(ctx, profiles)
}

// releaseDue releases due messages until the processor shuts down. Shutdown releases the remaining
// messages, with a time limit.
func (p *profilesProcessor) releaseDue() {
	ctx := context.Background()
	for !p.stopped() {
		h, pause := p.queue.popDue(ctx, time.Now())
		if h != nil {
			p.release(h, releasedDue)
			continue
		}
		select {
		case <-p.stop:
		case <-p.queue.wake:
		case <-time.After(pause):
			p.linking.expire(ctx)
		}
	}
}

func (p *profilesProcessor) stopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// shutdownSendTimeout is how long the next component may take to accept a message at shutdown: a
// full queue in front of an unresponsive backend may block forever. The collector passes a context
// without a deadline to Shutdown, and orchestrators kill the process after 10 or 30 s.
const shutdownSendTimeout = 5 * time.Second

// release links a held message to the spans that have arrived and forwards it. The sender has
// already received a success response, so messages that are refused temporarily stay in the queue,
// and messages that are rejected permanently can only be counted.
func (p *profilesProcessor) release(h *heldMessage, why releaseReason) {
	ctx := client.NewContext(p.sendCtx, h.client)
	claim := p.linking.claimDecoded(ctx, h)
	defer claim.Release()
	if lost, err := h.decompress(); err != nil {
		p.telemetry.countOutgoing(ctx, lost, outcomeDropped)
		p.logger.Error("Profiles that waited for spans are lost: they cannot be decompressed", zap.Error(err))
	}
	if !h.isDue {
		h.isDue = true
		for _, each := range append(h.joined, h) {
			p.telemetry.recordWait(ctx, time.Since(each.arrived), why)
		}
		work := 1 + h.bytes/bytesPerWork
		var reshaped []pprofile.Profiles
		for _, message := range dictionary.Join(h.parts) {
			if p.linksProfiles {
				work += p.linking.link(ctx, h.tenant.Authenticated, message, why != releasedDue)
			}
			reshaped = append(reshaped, p.reshape(ctx, message)...)
		}
		h.parts, h.bytes = reshaped, 0
		p.queue.workDone(h, work)
	}
	if h.retries.suspect && h.isBatch() {
		h.parts, h.bytes, h.separated = separate(h.parts), 0, true
	}
	result := p.send(ctx, h.parts, h.isBatch())
	h.parts = result.remaining
	switch {
	case len(h.parts) == 0:
		p.unpersist(h)
		if result.err != nil {
			p.logger.Warn("Profiles that waited for spans are lost: the next component refused them permanently", zap.Error(result.err))
		}
	case why != releasedShutdown && ctx.Err() == nil:
		p.retry(ctx, h, result)
	case h.storageKey != 0: // the next start restores it
		p.countOutcome(ctx, h.parts, outcomeStored)
	default:
		p.countOutcome(ctx, h.parts, outcomeRefused)
		p.lostAtShutdown.Add(profilesIn(h.parts))
	}
}

// bytesPerWork is the number of bytes that are decoded, transformed and encoded in the time of a
// unit of work, see spanlink.Options.
const bytesPerWork = 16

// retry puts a message back into the queue until its next attempt, unless the next component has
// refused it for too long.
func (p *profilesProcessor) retry(ctx context.Context, h *heldMessage, result sendResult) {
	if result.accepted || h.bytes == 0 {
		h.bytes = bytesIn(h.parts)
	}
	p.compress(h, h.bytes)
	if h.retries.suspect && h.storageKey != 0 {
		p.store.SetRetries(h.storageKey, encodeRetries(h.retries))
	}
	first, ok := p.queue.requeue(ctx, h, result, time.Now())
	switch {
	case !ok:
		p.drop(ctx, h, outcomeExpired, "Profiles that waited for spans are lost: "+
			"the next component refused them for retry_on_failure::max_elapsed_time while it accepted others")
	case first:
		p.logger.Warn("The next component refuses profiles that waited for spans; they are retried", zap.Error(result.err))
	}
}

// drain forwards all held messages, as long as ctx allows it and the next component accepts them.
func (p *profilesProcessor) drain(ctx context.Context, sendTimeout *time.Timer) {
	stored, dropped := int64(0), int64(0)
	for h := p.queue.popAny(ctx); h != nil; h = p.queue.popAny(ctx) {
		switch {
		case ctx.Err() == nil && p.sendCtx.Err() == nil:
			sendTimeout.Reset(shutdownSendTimeout) // the last message of the worker had its own limit
			p.release(h, releasedShutdown)
		case h.storageKey != 0:
			stored += h.profiles()
		default:
			dropped += h.profiles()
		}
	}
	if stored > 0 {
		p.telemetry.countOutgoing(ctx, stored, outcomeStored)
		p.logger.Info("Profiles that waited for spans remain in the storage: there was no time to forward them", zap.Int64("profiles", stored))
	}
	if lost := p.lostAtShutdown.Load(); lost > 0 {
		p.logger.Warn("Profiles that waited for spans are lost: they were refused at shutdown", zap.Int64("profiles", lost))
	}
	if dropped > 0 {
		p.telemetry.countOutgoing(ctx, dropped, outcomeDropped)
		p.logger.Warn("Profiles that waited for spans are lost: there was no time to forward them", zap.Int64("profiles", dropped))
	}
}
