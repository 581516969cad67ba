// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxWait is how long a request waits for room, all its waits together. Java's Sentry SDK gives up an answer after 5 s, and a body
// of 34 MB is decoded, translated and handed on in less than one.
const maxWait = 2 * time.Second

// NeedOfOne is what a single request may hold at worst: its encoded body, the decoded one, the buffer that it is just being copied
// from, which is half as large or one byte smaller, and the window of a decoder. The smallest bodies take a buffer too.
func NeedOfOne(maxBody int64) int64 { return 3*max(maxBody, minBuffer) + MaxWindow }

// share is how many times the free rest of a Room a tenant with several requests may hold (the dynamic threshold of Choudhury and
// Hahne). A tenant alone has four fifths, and the next one finds the last: of the sentry receiver's default 64 MiB, in which the
// largest recorded chunk, 34 MB, is decoded. A tenant's only request has no threshold, so that one of the largest size fits.
const share = 4

// Room bounds the bytes of all requests together, before memory is spent on them: a request reads and inflates only
// into bytes that it holds. Tenants share it, see share.
//
// Of one tenant, requests that hold bytes already go before newcomers, which would only add to what has to be finished; otherwise
// it is first come, first served, so that large bodies are not starved by small ones. A tenant that waits stops no other.
type Room struct {
	limit   int64
	counted func(ctx context.Context, delta int64) // for a metric

	mu      sync.Mutex
	used    int64
	holders int // claims that hold bytes
	tenants map[string]*tenant
	queue   []*waiter // holders first
	pass    int       // over the queue
}

// tenant is one that holds bytes or waits for some.
type tenant struct {
	name    string
	used    int64
	holders int // claims that hold bytes
	waiters int
	stuck   int // waiters that hold bytes
	blocked int // the last pass in which one of its waiters did not fit
}

// NewRoom has room for so many bytes, and says when some are taken or given back.
func NewRoom(limit int64, counted func(ctx context.Context, delta int64)) *Room {
	return &Room{limit: limit, counted: counted, tenants: map[string]*tenant{}}
}

// Claim is what a request holds: nothing yet. Its tenant is that of all requests whose sender is not known.
func (f *Room) Claim(ctx context.Context) *Claim { return &Claim{room: f, ctx: ctx} }

// Used is how many bytes are taken.
func (f *Room) Used() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used
}

// waiter is a claim that waits for more. It is told once: nil for granted.
type waiter struct {
	claim *Claim
	bytes int64
	told  chan error // of size 1
}

// Claim is what one request holds, used by its goroutine only. A nil Claim is not bounded.
type Claim struct {
	room     *Room
	ctx      context.Context
	name     string    // of the tenant
	tenant   *tenant   // guarded by room.mu; nil while it neither holds bytes nor waits
	held     int64     // guarded by room.mu
	deadline time.Time // of waiting, set by the first wait
}

// ErrNoRoom is why a body is not read, or not to its end: there are too many bytes already.
var ErrNoRoom = errors.New("too many bytes are in flight")

// NeverWait makes the claim one that has no patience: Acquire returns ErrNoRoom at once if there is no room.
func (c *Claim) NeverWait() *Claim {
	c.deadline = time.Unix(0, 1)
	return c
}

// SetTenant names the tenant whose share the claim counts against.
func (c *Claim) SetTenant(name string) {
	if c == nil || c.name == name {
		return
	}
	c.room.move(c, name)
}

// Acquire takes n bytes, waiting for them for a while. The error is ErrNoRoom, or that of the request's context.
func (c *Claim) Acquire(n int64) error {
	if c == nil || n <= 0 {
		return nil
	}
	w := &waiter{c, n, make(chan error, 1)}
	c.room.enter(w)
	err := c.wait(w)
	if err == nil {
		c.room.counted(c.ctx, n)
	}
	return err
}

func (c *Claim) wait(w *waiter) error {
	select {
	case err := <-w.told:
		return err // the rule
	default:
	}
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(maxWait)
	}
	patience := time.NewTimer(time.Until(c.deadline))
	defer patience.Stop()
	select {
	case err := <-w.told:
		return err
	case <-c.ctx.Done():
		return c.room.leave(w, c.ctx.Err())
	case <-patience.C:
		return c.room.leave(w, ErrNoRoom)
	}
}

// Keep gives back all but n bytes.
func (c *Claim) Keep(n int64) {
	if c == nil {
		return
	}
	if given := c.room.giveBack(c, n); given > 0 {
		c.room.counted(c.ctx, -given)
	}
}

// Release gives back everything. A second time it does nothing.
func (c *Claim) Release() { c.Keep(0) }

// give gives back n bytes.
func (c *Claim) give(n int64) {
	if c != nil {
		c.Keep(c.held - n)
	}
}

func (f *Room) enter(w *waiter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := w.claim
	if c.tenant == nil {
		c.tenant = f.tenant(c.name)
	}
	place := len(f.queue)
	c.tenant.waiters++
	if c.held > 0 {
		c.tenant.stuck++
		place = f.waitingHolders()
	}
	f.queue = slices.Insert(f.queue, place, w)
	f.advance()
}

// leave takes a waiter out that has lost patience, unless it was told just now.
func (f *Room) leave(w *waiter, why error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case err := <-w.told:
		return err
	default:
	}
	f.queue = slices.DeleteFunc(f.queue, func(other *waiter) bool { return other == w })
	f.removed(w)
	f.advance()
	return why
}

func (f *Room) giveBack(c *Claim, keep int64) (given int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if given = c.held - keep; given <= 0 {
		return 0
	}
	f.hold(c, -given)
	f.advance()
	return given
}

// move makes what a claim holds the other tenant's.
func (f *Room) move(c *Claim, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := c.held
	if held > 0 {
		f.hold(c, -held)
	}
	c.name = name
	if held > 0 {
		c.tenant = f.tenant(name)
		f.hold(c, held)
		f.advance()
	}
}

func (f *Room) tenant(name string) *tenant {
	t := f.tenants[name]
	if t == nil {
		t = &tenant{name: name}
		f.tenants[name] = t
	}
	return t
}

// hold gives a claim more bytes, or takes some back.
func (f *Room) hold(c *Claim, n int64) {
	before, t := c.held, c.tenant
	c.held += n
	t.used += n
	f.used += n
	switch {
	case before == 0:
		t.holders++
		f.holders++
	case c.held == 0:
		t.holders--
		f.holders--
	}
	f.forget(c)
}

// removed counts a waiter out that is no longer in the queue.
func (f *Room) removed(w *waiter) {
	t := w.claim.tenant
	t.waiters--
	if w.claim.held > 0 {
		t.stuck--
	}
	f.forget(w.claim)
}

// forget drops the tenant of a claim that holds nothing, and the tenant itself after its last claim.
func (f *Room) forget(c *Claim) {
	t := c.tenant
	if t.holders == 0 && t.waiters == 0 {
		delete(f.tenants, t.name)
	}
	if c.held == 0 {
		c.tenant = nil
	}
}

// fits reports whether there are bytes for a waiter, and whether it is its tenant's share that has too few.
func (f *Room) fits(w *waiter) (fits, overShare bool) {
	t, free := w.claim.tenant, f.limit-f.used-w.bytes
	others := t.holders
	if w.claim.held > 0 {
		others--
	}
	overShare = others > 0 && t.used+w.bytes > share*free
	return free >= 0 && !overShare, free >= 0 && overShare
}

// advance serves the queue as far as there is room. A tenant whose first waiter has to wait waits with all of them.
func (f *Room) advance() {
	f.pass++
	waiting := f.queue[:0]
	var stuck *tenant // over its share, and all that it holds waits
	for _, w := range f.queue {
		t := w.claim.tenant
		if t.blocked != f.pass {
			fits, overShare := f.fits(w)
			if fits {
				f.grant(w)
				continue
			}
			t.blocked = f.pass
			if overShare && t.stuck == t.holders {
				stuck = t
			}
		}
		waiting = append(waiting, w)
	}
	clear(f.queue[len(waiting):])
	f.queue = waiting
	f.resolve(stuck)
}

func (f *Room) grant(w *waiter) {
	c := w.claim
	c.tenant.waiters--
	if c.held > 0 {
		c.tenant.stuck--
	}
	f.hold(c, w.bytes)
	w.told <- nil
}

// resolve refuses a waiter where every holder waits, of one tenant that is over its share or of all: nobody would ever give
// anything back, as with several half-inflated bodies. It is the latest of the tenant that holds the most, and what it held lets
// the others go on.
func (f *Room) resolve(stuck *tenant) {
	waiting := f.queue[:f.waitingHolders()]
	if len(waiting) > 0 && len(waiting) == f.holders {
		for _, w := range waiting {
			if stuck == nil || w.claim.tenant.used >= stuck.used {
				stuck = w.claim.tenant
			}
		}
	}
	if stuck == nil {
		return
	}
	for i, w := range slices.Backward(waiting) {
		if w.claim.tenant == stuck {
			f.queue = slices.Delete(f.queue, i, i+1)
			f.removed(w)
			w.told <- ErrNoRoom
			return
		}
	}
}

// waitingHolders counts those that wait and hold something. They stand first.
func (f *Room) waitingHolders() int {
	n := slices.IndexFunc(f.queue, func(w *waiter) bool { return w.claim.held == 0 })
	if n < 0 {
		return len(f.queue)
	}
	return n
}
