// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// message is a message of any signal.
type message struct {
	find func(symbolicate.Files) symbolicate.Write   // finds the names
	size func() int                                  // bytes when encoded
	next func(ctx context.Context, again bool) error // forwards it; again: another attempt may follow
}

// hold keeps the messages of a pipeline while their symbol files are being opened or downloaded,
// and until the next component accepts them. Each pipeline has its own, because the next components
// of another pipeline may already be shut down. Tenants share hold::max_bytes fairly. A nil hold
// keeps none.
type hold struct {
	cfg    HoldConfig
	files  *files
	stop   context.CancelFunc
	worker sync.WaitGroup

	sending context.Context // of all messages
	endSend context.CancelFunc

	mu   sync.Mutex
	held fairshare.Queue[tenant.Tenant, *heldMessage] // the first is due first
}

type heldMessage struct {
	message
	ctx     context.Context
	files   tenantFiles // has the pending ones
	bytes   int64
	place   *place    // nil while it is being forwarded
	due     time.Time // to be forwarded
	release release   // why it is no longer held, if the next component refused it
	last    time.Time // of the attempts to forward it
}

type place = fairshare.Entry[tenant.Tenant, *heldMessage]

// release is the reason why a message is no longer held, or is not held at all.
type release string

const (
	opened   release = "opened"   // its files are open, or cannot be opened
	expired  release = "expired"  // hold::timeout has passed
	shutdown release = "shutdown" // the collector stops
	full     release = "full"     // hold::max_bytes are held: it was not held, or made room for another tenant
	refused  release = "refused"  // the next component rejected it after the hold: it was dropped
)

// retryPause is the time between two attempts to forward a message.
const retryPause = time.Second

// shutdownSendTimeout is how long the next component may take to accept a message at shutdown, as
// in profile_transform: the collector passes a context without a deadline to Shutdown.
const shutdownSendTimeout = 5 * time.Second

func newHold(cfg HoldConfig, f *files) *hold {
	if cfg.Timeout == 0 {
		return nil
	}
	sending, endSend := context.WithCancel(context.Background())
	return &hold{cfg: cfg, files: f, stop: func() {}, sending: sending, endSend: endSend}
}

func (h *hold) start() {
	if h == nil {
		return
	}
	working, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.worker.Go(func() {
		for {
			changed, known := h.files.opened.Next(), map[question]symbols.Status{}
			h.forward(func(m *heldMessage) release {
				switch {
				case working.Err() != nil:
					return ""
				case m.release == "" && !m.pending(known):
					return opened
				case !time.Now().Before(m.due):
					return expired
				}
				return ""
			})
			select {
			case <-working.Done():
				return
			case <-changed:
			case <-time.After(h.pause()):
			}
		}
	})
}

// pause returns the time until a message is due. One that arrives meanwhile is due later.
func (h *hold) pause() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.held.Oldest(); e != nil {
		return time.Until(e.Value.due)
	}
	return h.cfg.Timeout
}

// shutdown forwards all messages, unless the next component blocks.
func (h *hold) shutdown() {
	if h == nil {
		return
	}
	h.stop()
	timeout := time.AfterFunc(shutdownSendTimeout, h.endSend)
	defer timeout.Stop()
	h.worker.Wait()
	h.forward(func(*heldMessage) release {
		timeout.Reset(shutdownSendTimeout)
		return shutdown
	})
}

// add keeps a message, and returns false if there is no room. To make room, it forwards messages of
// others. This runs in the goroutine of the sender, which slows the sender down to the pace of the
// next component. The files may have been opened since changed was taken.
func (h *hold) add(ctx context.Context, m message, f tenantFiles, changed <-chan struct{}) bool {
	held := &heldMessage{message: m, ctx: context.WithoutCancel(ctx), files: f, due: time.Now().Add(h.cfg.Timeout), bytes: int64(m.size())}
	for {
		other, isHeld := h.push(held)
		switch {
		case isHeld:
			select {
			case <-changed:
				h.files.opened.Notify()
			default:
			}
			return true
		case other == nil || !h.pass(*other, full):
			h.files.telemetry.countHeld(ctx, full)
			return false
		}
	}
}

// push holds a message if there is room. Otherwise it returns a message that makes room: the oldest
// one of the tenant that holds the most, or nil if the tenant of the message would then hold more.
func (h *hold) push(m *heldMessage) (other *heldMessage, isHeld bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := m.files.tenant
	if h.held.Size()+m.bytes <= h.cfg.MaxBytes {
		m.place = h.held.Push(t, m, m.bytes)
		return nil, true
	}
	e := h.held.LargestOldest()
	if m.bytes > h.cfg.MaxBytes || h.held.Use(e.Tenant()) <= h.held.Use(t)+m.bytes {
		return nil, false
	}
	h.held.Remove(e)
	e.Value.place = nil
	return e.Value, false
}

// forward forwards the messages that are released. Messages that arrive meanwhile do not wait for
// the next component.
func (h *hold) forward(releaseOf func(*heldMessage) release) {
	var held []*place
	h.mu.Lock()
	for e := h.held.Oldest(); e != nil; e = e.Newer() {
		held = append(held, e)
	}
	h.mu.Unlock()
	for _, e := range held {
		if reason := releaseOf(e.Value); reason != "" && h.remove(e) {
			h.pass(*e.Value, reason)
		}
	}
}

// remove removes a message, unless it made room for another.
func (h *hold) remove(e *place) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Value.place != e {
		return false
	}
	h.held.Remove(e)
	e.Value.place = nil
	return true
}

// pass forwards a message that is no longer held. If the next component refuses it for now, it is
// held again, beyond the limit if necessary, and pass returns false. The message is a copy, because
// the worker may be reading the held one.
func (h *hold) pass(m heldMessage, reason release) bool {
	if m.release == "" {
		m.release, m.last = reason, time.Now().Add(h.cfg.Timeout)
		h.files.telemetry.countFrames(m.ctx, m.find(h.files.of(m.files.tenant))())
	}
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	defer context.AfterFunc(h.sending, cancel)()
	err := m.next(ctx, reason != shutdown)
	if err != nil && reason != shutdown && !consumererror.IsPermanent(err) && time.Now().Before(m.last) {
		h.mu.Lock()
		defer h.mu.Unlock()
		m.due = time.Now().Add(retryPause)
		m.place = h.held.PushOldest(m.files.tenant, &m, m.bytes)
		return false
	}
	if err != nil {
		m.release = refused
		h.files.logger.Error("The next component rejected a held message; the message is dropped", zap.Error(err))
	}
	h.files.telemetry.countHeld(m.ctx, m.release)
	return true
}

// question is a lookup of a tenant.
type question struct {
	tenant tenant.Tenant
	id     any
}

// pending reports whether a file of a message is being opened. known has the answers for other
// messages, which often wait for the same files: a lookup takes up to a tenth of a millisecond, and
// there may be 100,000 messages.
func (m *heldMessage) pending(known map[question]symbols.Status) bool {
	for id := range m.files.pending {
		q := question{m.files.tenant, id}
		if known[q] == "" {
			_, known[q] = m.files.lookup(id)
		}
		if known[q] == symbols.Pending {
			return true
		}
		delete(m.files.pending, id)
	}
	return false
}
