// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

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
// down. A nil hold keeps none.
type hold struct {
	cfg    HoldConfig
	files  *files
	stop   context.CancelFunc
	worker sync.WaitGroup

	mu    sync.Mutex
	held  []heldMessage // in order of arrival: the first is due first
	bytes int64
}

type heldMessage struct {
	message
	ctx   context.Context
	due   time.Time
	bytes int64
	*probe
}

// release is the reason why a message is no longer held, or is not held at all.
type release string

const (
	opened   release = "opened"   // its files are open, or cannot be opened
	expired  release = "expired"  // hold::timeout has passed
	shutdown release = "shutdown" // the collector stops
	full     release = "full"     // hold::max_bytes are held: it was not held
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
// is unchanged.
func (h *hold) add(ctx context.Context, m message) bool {
	if h == nil {
		return false
	}
	p := &probe{files: h.files, asked: map[any]func() symbols.Status{}}
	m.write(p)
	if !p.pending(map[any]bool{}) {
		return false
	}
	size := int64(m.size())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bytes+size > h.cfg.MaxBytes {
		h.files.telemetry.countHeld(ctx, full)
		return false
	}
	h.bytes += size
	h.held = append(h.held, heldMessage{m, context.WithoutCancel(ctx), time.Now().Add(h.cfg.Timeout), size, p})
	return true
}

// forward forwards the messages that are released. Messages that arrive meanwhile do not wait for
// the next component.
func (h *hold) forward(releaseOf func(*heldMessage) release) {
	h.mu.Lock()
	held := slices.Clone(h.held)
	h.mu.Unlock()
	done := make([]bool, len(held))
	for i := range held {
		m := &held[i]
		reason := releaseOf(m)
		if reason == "" {
			continue
		}
		done[i] = true
		if err := forward(m.ctx, h.files, m.message); err != nil {
			reason = refused
			h.files.logger.Error("The next component rejected a message after the hold; it is dropped", zap.Error(err))
		}
		h.files.telemetry.countHeld(m.ctx, reason)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i := -1
	h.held = slices.DeleteFunc(h.held, func(m heldMessage) bool { // new messages are behind those of held
		if i++; i >= len(done) || !done[i] {
			return false
		}
		h.bytes -= m.bytes
		return true
	})
}

// probe records for which files a message waits. It has no file, so that the message stays
// unchanged.
type probe struct {
	files *files
	asked map[any]func() symbols.Status
}

var _ symbolicate.Files = (*probe)(nil)

// Script implements symbolicate.Files.
func (p *probe) Script(id symbolicate.ScriptID) (*sourcemap.File, symbols.Status) {
	p.asked[id] = func() symbols.Status { _, status := p.files.Script(id); return status }
	return nil, symbols.Pending
}

// Mapping implements symbolicate.Files.
func (p *probe) Mapping(id string) (*proguard.Mapping, symbols.Status) {
	p.asked[id] = func() symbols.Status { _, status := p.files.Mapping(id); return status }
	return nil, symbols.Pending
}

// Native implements symbolicate.Files.
func (p *probe) Native(id symbolicate.NativeID) (*native.Table, symbols.Status) {
	p.asked[id] = func() symbols.Status { _, status := p.files.Native(id); return status }
	return nil, symbols.Pending
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
