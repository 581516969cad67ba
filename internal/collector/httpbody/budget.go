// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxWait is the total time that a request waits for memory. Sentry's Java SDK times out after 5 s,
// and a body of 34 MB is decoded, translated and forwarded in less than one second.
const maxWait = 2 * time.Second

// MaxPerRequest returns the maximum memory of a request: the encoded body, the decoded body, the
// buffer that it is being copied from, which is at most as large, and the window of a decoder. The
// smallest bodies use a whole buffer.
func MaxPerRequest(maxBody int64) int64 { return 3*max(maxBody, minBuffer) + MaxWindow }

// freeFactor is the dynamic threshold of Choudhury and Hahne: a tenant with several requests holds
// at most this many times the free memory. A single tenant gets four fifths and leaves one fifth to
// the next. The default of the sentry receiver, 64 MiB, is enough for the largest recorded chunk,
// 34 MB. The only request of a tenant has no threshold, so that a request of any allowed size fits.
const freeFactor = 4

// Budget limits the memory of all requests together. Requests read and decompress only into bytes
// that they hold. Tenants share the budget, see freeFactor.
//
// Requests that hold bytes precede new ones of their tenant, which would only add unfinished work.
// Otherwise the order is first come, first served, so that small bodies do not starve large ones. A
// waiting tenant does not block others.
type Budget struct {
	limit   int64
	changed func(ctx context.Context, delta int64) // for a metric

	mu      sync.Mutex
	used    int64
	holders int // claims that hold bytes
	tenants map[string]*tenant
	queue   []*waiter // holders first
	pass    int       // number of passes over the queue
}

// tenant is a tenant that holds bytes or waits for bytes.
type tenant struct {
	name           string
	used           int64
	holders        int // claims that hold bytes
	waiters        int
	waitingHolders int // waiters that hold bytes
	blockedPass    int // the last pass in which one of its waiters did not fit
}

// NewBudget returns a budget of a number of bytes. It reports changes of the use.
func NewBudget(limit int64, changed func(ctx context.Context, delta int64)) *Budget {
	return &Budget{limit: limit, changed: changed, tenants: map[string]*tenant{}}
}

// Claim returns an empty claim of a request. All requests of unknown senders have the same tenant.
func (b *Budget) Claim(ctx context.Context) *Claim { return &Claim{budget: b, ctx: ctx, most: maxWait} }

// Used returns the number of bytes that claims hold.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// UsedBy returns the number of bytes that the claims of a tenant hold.
func (b *Budget) UsedBy(name string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.tenants[name]; t != nil {
		return t.used
	}
	return 0
}

// waiter is a claim that waits for more bytes.
type waiter struct {
	claim  *Claim
	bytes  int64
	result chan error // receives one result, nil if granted; has a buffer of one
}

// Claim is the memory of one request. Only the goroutine of the request uses it. A nil Claim has no
// limit.
type Claim struct {
	budget   *Budget
	ctx      context.Context
	name     string        // of the tenant
	tenant   *tenant       // guarded by budget.mu; nil if it holds no bytes and does not wait
	held     int64         // guarded by budget.mu
	most     time.Duration // of all waits together
	deadline time.Time     // of all waits, set by the first one
}

// ErrNoMemory is the error of a body that is not read, or not completely, because the budget is
// used up.
var ErrNoMemory = errors.New("too many bytes are in flight")

type claimKey struct{}

// NewContext returns the context of a request whose handlers may need more memory.
func (c *Claim) NewContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, claimKey{}, c)
}

// ClaimOf returns the claim of a request, or nil.
func ClaimOf(ctx context.Context) *Claim {
	c, _ := ctx.Value(claimKey{}).(*Claim)
	return c
}

// NeverWait makes Acquire return ErrNoMemory at once instead of waiting.
func (c *Claim) NeverWait() *Claim { return c.WaitAtMost(0) }

// WaitAgain makes Acquire wait as long as in a new claim.
func (c *Claim) WaitAgain() *Claim { return c.WaitAtMost(maxWait) }

// WaitAtMost sets the time that Acquire waits, in all further calls together.
func (c *Claim) WaitAtMost(most time.Duration) *Claim {
	c.most, c.deadline = most, time.Time{}
	return c
}

// SetTenant sets the tenant that the claim belongs to.
func (c *Claim) SetTenant(name string) {
	if c == nil || c.name == name {
		return
	}
	c.budget.changeTenant(c, name)
}

// Acquire adds n bytes to the claim. It waits if necessary. The error is ErrNoMemory or that of the
// context of the request.
func (c *Claim) Acquire(n int64) error { return c.acquire(n, true) }

// TryAcquire is like Acquire, but does not wait.
func (c *Claim) TryAcquire(n int64) error { return c.acquire(n, false) }

func (c *Claim) acquire(n int64, wait bool) error {
	if c == nil || n <= 0 {
		return nil
	}
	w, err := c.budget.request(c, n, wait && c.most > 0)
	switch {
	case w == nil:
	case len(w.result) > 0:
		err = <-w.result
	default:
		err = c.wait(w)
	}
	if err == nil {
		c.budget.changed(c.ctx, n)
	}
	return err
}

func (c *Claim) wait(w *waiter) error {
	if c.deadline.IsZero() {
		c.deadline = time.Now().Add(c.most)
	}
	timeout := time.NewTimer(time.Until(c.deadline))
	defer timeout.Stop()
	select {
	case err := <-w.result:
		return err
	case <-c.ctx.Done():
		return c.budget.cancel(w, c.ctx.Err())
	case <-timeout.C:
		return c.budget.cancel(w, ErrNoMemory)
	}
}

// ShrinkTo releases all but n bytes.
func (c *Claim) ShrinkTo(n int64) {
	if c == nil {
		return
	}
	if released := c.budget.shrink(c, n); released > 0 {
		c.budget.changed(c.ctx, -released)
	}
}

// Release releases all bytes. Further calls have no effect.
func (c *Claim) Release() { c.ShrinkTo(0) }

// shrinkBy releases n bytes.
func (c *Claim) shrinkBy(n int64) {
	if c != nil {
		c.ShrinkTo(c.held - n)
	}
}

// request grants n more bytes at once if no claim waits and they fit, the usual case. Otherwise it
// returns a waiter or, for a claim that does not wait and gets no bytes, an error. Such a claim is
// not a part of a deadlock: it may release its bytes.
func (b *Budget) request(c *Claim, n int64, wait bool) (*waiter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.tenant == nil {
		c.tenant = b.tenant(c.name)
	}
	if fits, _ := b.fits(c, n); fits && len(b.queue) == 0 {
		b.adjust(c, n)
		return nil, nil
	}
	w := &waiter{claim: c, bytes: n, result: make(chan error, 1)}
	position := len(b.queue)
	c.tenant.waiters++
	if c.held > 0 {
		c.tenant.waitingHolders++
		position = b.waitingHolders()
	}
	b.queue = slices.Insert(b.queue, position, w)
	stuck := b.grantFitting()
	if !wait && len(w.result) == 0 {
		b.remove(w)
		return nil, ErrNoMemory
	}
	b.resolveDeadlock(stuck)
	return w, nil
}

// remove removes a waiter without a grant.
func (b *Budget) remove(w *waiter) {
	b.queue = slices.DeleteFunc(b.queue, func(other *waiter) bool { return other == w })
	b.uncount(w)
}

// cancel removes a waiter, unless it has a result by now, and returns its result.
func (b *Budget) cancel(w *waiter, why error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case err := <-w.result:
		return err
	default:
	}
	b.remove(w)
	b.advance()
	return why
}

// shrink releases all but n bytes of a claim and returns their number.
func (b *Budget) shrink(c *Claim, n int64) (released int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if released = c.held - n; released <= 0 {
		return 0
	}
	b.adjust(c, -released)
	b.advance()
	return released
}

// changeTenant moves a claim to another tenant.
func (b *Budget) changeTenant(c *Claim, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := c.held
	if held > 0 {
		b.adjust(c, -held)
	}
	c.name = name
	if held > 0 {
		c.tenant = b.tenant(name)
		b.adjust(c, held)
		b.advance()
	}
}

func (b *Budget) tenant(name string) *tenant {
	t := b.tenants[name]
	if t == nil {
		t = &tenant{name: name}
		b.tenants[name] = t
	}
	return t
}

// adjust changes the bytes of a claim by n.
func (b *Budget) adjust(c *Claim, n int64) {
	before, t := c.held, c.tenant
	c.held += n
	t.used += n
	b.used += n
	switch {
	case before == 0:
		t.holders++
		b.holders++
	case c.held == 0:
		t.holders--
		b.holders--
	}
	b.dropUnused(c)
}

// uncount updates the tenant of a waiter that was removed from the queue without a grant.
func (b *Budget) uncount(w *waiter) {
	t := w.claim.tenant
	t.waiters--
	if w.claim.held > 0 {
		t.waitingHolders--
	}
	b.dropUnused(w.claim)
}

// dropUnused removes the tenant of a claim that holds no bytes, and the tenant itself after its
// last claim.
func (b *Budget) dropUnused(c *Claim) {
	t := c.tenant
	if t.holders == 0 && t.waiters == 0 {
		delete(b.tenants, t.name)
	}
	if c.held == 0 {
		c.tenant = nil
	}
}

// fits reports whether a claim can be granted n more bytes, and if not, whether only the threshold
// of its tenant prevents it.
func (b *Budget) fits(c *Claim, n int64) (fits, overShare bool) {
	t, free := c.tenant, b.limit-b.used-n
	others := t.holders
	if c.held > 0 {
		others--
	}
	overShare = others > 0 && (t.used+n-1)/freeFactor >= free // used > factor * free, which may overflow
	return free >= 0 && !overShare, free >= 0 && overShare
}

// advance grants the waiters that fit, and resolves a deadlock of the others.
func (b *Budget) advance() { b.resolveDeadlock(b.grantFitting()) }

// grantFitting grants the waiters that fit. If one waiter of a tenant does not fit, the later ones
// of the tenant wait too. It returns a tenant over its threshold all of whose holders wait, or nil.
func (b *Budget) grantFitting() (stuck *tenant) {
	b.pass++
	waiting := b.queue[:0]
	for _, w := range b.queue {
		t := w.claim.tenant
		if t.blockedPass != b.pass {
			fits, overShare := b.fits(w.claim, w.bytes)
			if fits {
				b.grant(w)
				continue
			}
			t.blockedPass = b.pass
			if overShare && t.waitingHolders == t.holders {
				stuck = t
			}
		}
		waiting = append(waiting, w)
	}
	clear(b.queue[len(waiting):])
	b.queue = waiting
	return stuck
}

func (b *Budget) grant(w *waiter) {
	c := w.claim
	c.tenant.waiters--
	if c.held > 0 {
		c.tenant.waitingHolders--
	}
	b.adjust(c, w.bytes)
	w.result <- nil
}

// resolveDeadlock rejects a waiter if all holders wait, either of all tenants or of one tenant
// above its threshold: none of them would ever release bytes, for instance if several bodies are
// half decompressed. It rejects the last waiter of the tenant with the most bytes; the others
// continue with the bytes that its request releases.
func (b *Budget) resolveDeadlock(stuck *tenant) {
	waiting := b.queue[:b.waitingHolders()]
	if len(waiting) > 0 && len(waiting) == b.holders {
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
			b.queue = slices.Delete(b.queue, i, i+1)
			b.uncount(w)
			w.result <- ErrNoMemory
			return
		}
	}
}

// waitingHolders returns the number of waiters that hold bytes. They are first in the queue.
func (b *Budget) waitingHolders() int {
	n := slices.IndexFunc(b.queue, func(w *waiter) bool { return w.claim.held == 0 })
	if n < 0 {
		return len(b.queue)
	}
	return n
}
