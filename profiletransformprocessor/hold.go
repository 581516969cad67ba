// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"
)

// released is why a message does not wait any more.
type released string

const (
	releasedDue      released = "due"      // it has waited as long as configured
	releasedFull     released = "full"     // too much waits
	releasedShutdown released = "shutdown" // of the collector
)

// hold lets a message wait. If too much waits, the tenant that uses the most makes room: the one who brings more does that work, which
// slows it down to the pace of the pipeline behind. If that takes nothing, the message is refused, and left as it is.
//
// What cannot be stored must not wait: who configures a storage wants what was taken to outlive a crash, and the next consumer may
// have a queue that does.
func (p *profilesProcessor) hold(ctx context.Context, profiles pprofile.Profiles) error {
	size := int64((&pprofile.ProtoMarshaler{}).ProfilesSize(profiles))
	if size > p.cfg.Link.MaxHeldBytes {
		return p.withoutWait(ctx, profiles)
	}
	h := &held{
		parts: []pprofile.Profiles{profiles}, client: client.FromContext(ctx), tenant: p.tenants.of(profiles),
		arrived: time.Now(), bytes: size,
	}
	if d := p.reserve(ctx, h); d != admit {
		if d == bypass {
			return p.withoutPlace(ctx, profiles)
		}
		p.count(ctx, h.parts, outcomeRefused)
		return errNoRoom
	}
	if !p.save(ctx, h) {
		p.room.cancel(h)
		return p.withoutWait(ctx, profiles)
	}
	h.parts[0] = pprofile.NewProfiles()
	profiles.MoveTo(h.parts[0])
	p.room.add(ctx, h)
	return nil
}

// reserve gives a message a place, with room made by others if need be; else it returns what to do with the message instead.
func (p *profilesProcessor) reserve(ctx context.Context, h *held) decision {
	for {
		switch d, other := p.room.reserve(ctx, h, time.Now()); d {
		case release:
			p.release(other, releasedFull)
		case evict:
			p.drop(ctx, other, outcomeEvicted, "Profiles that waited for spans are lost: "+
				"the next component refuses them, and their project used more of the queue than the one that needed room")
		default:
			return d
		}
	}
}

// drop ends a message that was refused.
func (p *profilesProcessor) drop(ctx context.Context, h *held, o outcome, why string) {
	ctx = context.WithoutCancel(ctx)
	p.count(ctx, h.parts, o)
	p.unsave(ctx, h)
	p.logger.Warn(why, zap.Int64("profiles", profilesIn(h.parts)))
}

// withoutPlace forwards a message for which there is no place, as withoutWait does.
func (p *profilesProcessor) withoutPlace(ctx context.Context, profiles pprofile.Profiles) error {
	err := p.withoutWait(ctx, profiles)
	if err != nil && !consumererror.IsPermanent(err) {
		p.room.passedOver(time.Now())
	}
	return err
}

// withoutWait hands on at once what cannot wait, with the links that can be made now. Its sender hears of an error.
func (p *profilesProcessor) withoutWait(ctx context.Context, profiles pprofile.Profiles) error {
	p.linking.link(ctx, profiles, true)
	return p.handOn(ctx, profiles)
}

// work hands on what has waited long enough, until the processor is shut down: what is due by then is left to Shutdown, which
// knows how much time there is.
func (p *profilesProcessor) work() {
	ctx := context.Background()
	for !p.stopped() {
		h, pause := p.room.takeDue(ctx, time.Now())
		if h != nil {
			p.release(h, releasedDue)
			continue
		}
		select {
		case <-p.stop:
		case <-p.room.wake:
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

// shutdownPatience is how long a shutdown waits for the next consumer to take one message: a queue that is full, with a backend
// that does not answer, may never. The collector gives Shutdown a context without an end, and orchestrators kill after 10 or 30 s.
const shutdownPatience = 5 * time.Second

// release hands on a message that waited, with the links that can be made now. Who sent it has been told that it was taken: what
// is refused for now waits on, and what is refused for good can only be counted.
func (p *profilesProcessor) release(h *held, why released) {
	ctx := client.NewContext(p.handing, h.client)
	if !h.due {
		h.due = true
		p.telemetry.waited(ctx, time.Since(h.arrived), why)
		if p.works {
			p.linking.link(ctx, h.parts[0], why != releasedDue)
		}
		h.parts = p.reshape(ctx, h.parts[0])
		h.bytes = 0
	}
	result := p.give(ctx, h.parts)
	h.parts = result.left
	switch {
	case len(h.parts) == 0:
		p.unsave(context.WithoutCancel(ctx), h)
		if result.err != nil {
			p.logger.Warn("Profiles that waited for spans were refused by the next consumer and are lost", zap.Error(result.err))
		}
	case why != releasedShutdown && ctx.Err() == nil:
		p.retry(ctx, h, result)
	case h.key != 0: // it is there for the next start
		p.count(ctx, h.parts, outcomeStored)
	default:
		p.count(ctx, h.parts, outcomeRefused)
		p.lost.Add(profilesIn(h.parts))
	}
}

// retry lets a message wait for its next attempt, unless the next consumer has refused it for too long.
func (p *profilesProcessor) retry(ctx context.Context, h *held, a attempt) {
	if a.accepted || h.bytes == 0 {
		h.bytes = bytesIn(h.parts)
	}
	if h.retries.suspect && h.key != 0 {
		h.retriesStored = true
		if err := p.store.putRetries(ctx, h); err != nil {
			p.storageFailed(ctx, "The retries of profiles cannot be stored and begin anew after a restart", err)
		}
	}
	first, ok := p.room.putBack(ctx, h, a, time.Now())
	switch {
	case !ok:
		p.drop(ctx, h, outcomeExpired, "Profiles that waited for spans are lost: "+
			"the next component refused them for as long as retry_on_failure::max_elapsed_time says, and accepted others")
	case first:
		p.logger.Warn("Profiles that waited for spans are refused by the next consumer and wait on", zap.Error(a.err))
	}
}

// releaseAll hands on whatever waits, as long as ctx allows and the next consumer takes it.
func (p *profilesProcessor) releaseAll(ctx context.Context, patience *time.Timer) {
	stored, dropped := int64(0), int64(0)
	for h := p.room.takeFirst(ctx); h != nil; h = p.room.takeFirst(ctx) {
		switch {
		case ctx.Err() == nil && p.handing.Err() == nil:
			patience.Reset(shutdownPatience) // also after the worker's last one, which had its own
			p.release(h, releasedShutdown)
		case h.key != 0:
			stored += profilesIn(h.parts)
		default:
			dropped += profilesIn(h.parts)
		}
	}
	if stored > 0 {
		p.telemetry.left(ctx, stored, outcomeStored)
		p.logger.Info("Profiles that waited for spans are left in the storage: there was no time to hand them on", zap.Int64("profiles", stored))
	}
	if lost := p.lost.Load(); lost > 0 {
		p.logger.Warn("Profiles that waited for spans are lost: the next consumer refused them at shutdown", zap.Int64("profiles", lost))
	}
	if dropped > 0 {
		p.telemetry.left(ctx, dropped, outcomeDropped)
		p.logger.Warn("Profiles that waited for spans are lost: there was no time to hand them on", zap.Int64("profiles", dropped))
	}
}

// save puts a message into the storage, if there is one.
func (p *profilesProcessor) save(ctx context.Context, h *held) bool {
	if p.store == nil {
		return true
	}
	if err := p.store.put(ctx, h); err != nil {
		p.storageFailed(ctx, "Profiles cannot be stored and go on without waiting for spans", err)
		return false
	}
	return true
}

func (p *profilesProcessor) unsave(ctx context.Context, h *held) {
	if h.key == 0 {
		return
	}
	if err := p.store.remove(ctx, h); err != nil {
		p.storageFailed(ctx, "Profiles that were handed on cannot be removed from the storage and may come again after a crash", err)
	}
}

// restore lets those wait that waited when the collector crashed.
func (p *profilesProcessor) restore(ctx context.Context) error {
	messages, broken, err := p.store.load(ctx)
	if err != nil {
		return err
	}
	for _, err := range broken {
		p.storageFailed(ctx, "Profiles that waited for spans cannot be read from the storage", err)
	}
	for _, h := range messages {
		h.tenant = p.tenants.of(h.parts[0])
		p.telemetry.restored.Add(ctx, profilesIn(h.parts))
		p.room.readmit(ctx, h)
	}
	if len(messages) > 0 {
		p.logger.Info("Profiles that waited for spans when the collector ended", zap.Int("messages", len(messages)))
	}
	return nil
}

func (p *profilesProcessor) storageFailed(ctx context.Context, what string, err error) {
	p.telemetry.storageErrors.Add(ctx, 1)
	p.logger.Error(what, zap.Error(err))
}
