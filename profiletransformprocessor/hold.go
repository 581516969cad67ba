package profiletransformprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/client"
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

// hold lets a message wait. If too much waits, those that came first go now: the one who brings more does that work, which
// slows it down to the pace of the pipeline behind. What cannot be stored must not wait: who configures a storage wants what was
// taken to outlive a crash, and the next consumer may have a queue that does. It goes on at once, and its sender hears of an error.
func (p *profilesProcessor) hold(ctx context.Context, profiles pprofile.Profiles) error {
	h := &held{profiles: profiles, client: client.FromContext(ctx), arrived: time.Now()}
	h.bytes = int64((&pprofile.ProtoMarshaler{}).ProfilesSize(profiles))
	if !p.save(ctx, h) {
		p.linking.link(ctx, profiles, true)
		return p.handOn(ctx, profiles)
	}
	h.profiles = pprofile.NewProfiles()
	profiles.MoveTo(h.profiles)
	p.room.add(ctx, h)
	for first := p.room.takeSurplus(ctx); first != nil; first = p.room.takeSurplus(ctx) {
		p.release(first, releasedFull)
	}
	return nil
}

// work hands on what has waited long enough, until the processor is shut down: what is due by then is left to Shutdown, which
// knows how much time there is.
func (p *profilesProcessor) work() {
	ctx := context.Background()
	for !p.stopped() {
		h, pause := p.room.takeDue(ctx, time.Now(), p.cfg.Link.Wait)
		if h != nil {
			p.release(h, releasedDue)
			continue
		}
		select {
		case <-p.stop:
		case <-time.After(pause): // what comes in the meantime is not due before that
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

// release hands on a message that waited, with the links that can be made now. Who sent it has been told that it was taken, so
// that an error can only be counted.
func (p *profilesProcessor) release(h *held, why released) {
	ctx := client.NewContext(p.handing, h.client)
	p.telemetry.waited(ctx, time.Since(h.arrived), why)
	p.linking.link(ctx, h.profiles, why != releasedDue)
	if err := p.handOn(ctx, h.profiles); err != nil {
		if h.key != 0 && (ctx.Err() != nil || why == releasedShutdown) {
			return // there was no time, or there is none to ask again: it is there for the next start
		}
		p.logger.Warn("Profiles that waited for spans were refused by the next consumer and are lost; a sending_queue with block_on_overflow would let them wait", zap.Error(err))
	}
	p.unsave(context.WithoutCancel(ctx), h)
}

// releaseAll hands on whatever waits, as long as ctx allows and the next consumer takes it.
func (p *profilesProcessor) releaseAll(ctx context.Context, patience *time.Timer) {
	stored, dropped := int64(0), int64(0)
	for h := p.room.takeFirst(ctx); h != nil; h = p.room.takeFirst(ctx) {
		switch {
		case ctx.Err() == nil && p.handing.Err() == nil:
			p.release(h, releasedShutdown)
			patience.Reset(shutdownPatience)
		case h.key != 0:
			stored += int64(h.profiles.ProfileCount())
		default:
			dropped += int64(h.profiles.ProfileCount())
		}
	}
	if stored > 0 {
		p.telemetry.left(ctx, stored, outcomeStored)
		p.logger.Info("Profiles that waited for spans are left in the storage: there was no time to hand them on", zap.Int64("profiles", stored))
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
		p.telemetry.restored.Add(ctx, int64(h.profiles.ProfileCount()))
		p.room.add(ctx, h)
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
