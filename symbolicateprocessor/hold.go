// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// message is a message of any signal.
type message struct {
	write func(symbolicate.Files) symbolicate.Counts // writes the names
	size  func() int                                 // bytes when encoded
	next  func(context.Context) error                // forwards it
}

// hold keeps the messages of a pipeline while their symbol files are being opened or downloaded.
// Each pipeline has its own, because the next components of another pipeline may already be shut
// down. Tenants share hold::max_bytes fairly. A nil hold keeps none.
type hold struct {
	cfg    HoldConfig
	files  *files
	stop   context.CancelFunc
	worker sync.WaitGroup

	mu   sync.Mutex
	held fairshare.Queue[tenant.Tenant, *heldMessage] // the first is due first
}

type heldMessage struct {
	message
	ctx   context.Context
	due   time.Time
	bytes int64
	left  bool // made room for another
	*probe
}

// release is the reason why a message is no longer held, or is not held at all.
type release string

const (
	opened   release = "opened"   // its files are open, or cannot be opened
	expired  release = "expired"  // hold::timeout has passed
	shutdown release = "shutdown" // the collector stops
	full     release = "full"     // hold::max_bytes are held: it was not held, or made room for another tenant
	refused  release = "refused"  // the next component rejected it after the hold: it was dropped
)

// holdInterval is the time between two checks whether files are open.
const holdInterval = 100 * time.Millisecond

func newHold(cfg HoldConfig, f *files) *hold {
	if cfg.Timeout == 0 {
		return nil
	}
	return &hold{cfg: cfg, files: f, stop: func() {}}
}

func (h *hold) start() {
	if h == nil {
		return
	}
	working, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.worker.Go(func() {
		ticker := time.NewTicker(holdInterval)
		defer ticker.Stop()
		for {
			select {
			case <-working.Done():
				return
			case now := <-ticker.C:
				known := map[any]bool{}
				h.forward(func(m *heldMessage) release {
					switch {
					case !m.pending(known):
						return opened
					case now.After(m.due):
						return expired
					}
					return ""
				})
			}
		}
	})
}

// shutdown forwards all messages.
func (h *hold) shutdown() {
	if h == nil {
		return
	}
	h.stop()
	h.worker.Wait()
	h.forward(func(*heldMessage) release { return shutdown })
}

// add keeps a message if files for it are being opened. Otherwise it returns false, and the message
// is unchanged. To make room, it forwards messages of others. This runs in the goroutine of the
// sender, which slows the sender down to the pace of the next component.
func (h *hold) add(ctx context.Context, m message) bool {
	if h == nil {
		return false
	}
	t := tenant.FromContext(ctx)
	p := &probe{files: h.files.of(t), asked: map[any]func() symbols.Status{}}
	m.write(p)
	if !p.pending(map[any]bool{}) {
		return false
	}
	held := &heldMessage{message: m, ctx: context.WithoutCancel(ctx), due: time.Now().Add(h.cfg.Timeout), bytes: int64(m.size()), probe: p}
	for {
		other, isHeld := h.push(t, held)
		switch {
		case isHeld:
			return true
		case other == nil:
			h.files.telemetry.countHeld(ctx, full)
			return false
		}
		h.pass(other, full)
	}
}

// push holds a message if there is room. Otherwise it returns a message that makes room: the oldest
// one of the tenant that holds the most, or nil if the tenant of the message would then hold more.
func (h *hold) push(t tenant.Tenant, m *heldMessage) (other *heldMessage, isHeld bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held.Size()+m.bytes <= h.cfg.MaxBytes {
		h.held.Push(t, m, m.bytes)
		return nil, true
	}
	e := h.held.LargestOldest()
	if m.bytes > h.cfg.MaxBytes || h.held.Use(e.Tenant()) <= h.held.Use(t)+m.bytes {
		return nil, false
	}
	h.held.Remove(e)
	e.Value.left = true
	return e.Value, false
}

// forward forwards the messages that are released. Messages that arrive meanwhile do not wait for
// the next component.
func (h *hold) forward(releaseOf func(*heldMessage) release) {
	var held []*fairshare.Entry[tenant.Tenant, *heldMessage]
	h.mu.Lock()
	for e := h.held.Oldest(); e != nil; e = e.Newer() {
		held = append(held, e)
	}
	h.mu.Unlock()
	for _, e := range held {
		if reason := releaseOf(e.Value); reason != "" && h.remove(e) {
			h.pass(e.Value, reason)
		}
	}
}

// remove removes a message, unless it made room for another.
func (h *hold) remove(e *fairshare.Entry[tenant.Tenant, *heldMessage]) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Value.left {
		return false
	}
	h.held.Remove(e)
	return true
}

// pass forwards a message.
func (h *hold) pass(m *heldMessage, reason release) {
	if err := forward(m.ctx, h.files, m.message); err != nil {
		reason = refused
		h.files.logger.Error("The next component rejected a held message; the message is dropped", zap.Error(err))
	}
	h.files.telemetry.countHeld(m.ctx, reason)
}

// probe records for which files a message waits. It has no file, so that the message stays
// unchanged.
type probe struct {
	files tenantFiles
	asked map[any]func() symbols.Status // by question
}

// question is a lookup of a tenant.
type question struct {
	tenant tenant.Tenant
	id     any
}

var _ symbolicate.Files = (*probe)(nil)

// Script implements symbolicate.Files.
func (p *probe) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	p.ask(id, func() symbols.Status { _, status := p.files.Script(id); return status })
	return nil, symbols.Pending
}

// Mapping implements symbolicate.Files.
func (p *probe) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	p.ask(id, func() symbols.Status { _, status := p.files.Mapping(id); return status })
	return nil, symbols.Pending
}

// Native implements symbolicate.Files.
func (p *probe) Native(id symbolicate.NativeID) (*native.Table, symbols.Status) {
	p.ask(id, func() symbols.Status { _, status := p.files.Native(id); return status })
	return nil, symbols.Pending
}

func (p *probe) ask(id any, status func() symbols.Status) {
	p.asked[question{p.files.tenant, id}] = status
}

// pending reports whether a file is being opened, and forgets the others. known has the answers for
// other messages, which often wait for the same files: a lookup takes up to a tenth of a
// millisecond, and there may be 100,000 messages.
func (p *probe) pending(known map[any]bool) bool {
	for id, ask := range p.asked {
		pending, asked := known[id]
		if !asked {
			pending = ask() == symbols.Pending
			known[id] = pending
		}
		if !pending {
			delete(p.asked, id)
		}
	}
	return len(p.asked) > 0
}
