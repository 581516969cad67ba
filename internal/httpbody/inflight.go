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

// Room bounds the bytes of all requests together, before memory is spent on them: a request reads and inflates only
// into bytes that it holds.
//
// Those that hold bytes already go before newcomers, which would only add to what has to be finished; otherwise it is first
// come, first served, so that large bodies are not starved by small ones.
type Room struct {
	limit   int64
	counted func(ctx context.Context, delta int64) // for a metric

	mu      sync.Mutex
	used    int64
	holders int       // claims that hold bytes
	queue   []*waiter // holders first
}

// NewRoom has room for so many bytes, and says when some are taken or given back.
func NewRoom(limit int64, counted func(ctx context.Context, delta int64)) *Room {
	return &Room{limit: limit, counted: counted}
}

// Claim is what a request holds: nothing yet.
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
	held     int64     // guarded by room.mu
	deadline time.Time // of waiting, set by the first wait
}

// ErrNoRoom is why a body is not read, or not to its end: there are too many bytes already.
var ErrNoRoom = errors.New("too many bytes are in flight")

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
	place := len(f.queue)
	if w.claim.held > 0 {
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
	f.advance()
	return why
}

func (f *Room) giveBack(c *Claim, keep int64) (given int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if given = c.held - keep; given <= 0 {
		return 0
	}
	c.held -= given
	f.used -= given
	if c.held == 0 {
		f.holders--
	}
	f.advance()
	return given
}

// advance serves the queue as far as there is room. Where every holder waits, nobody would ever give anything back, as with
// several half-inflated bodies: then the latest of them is refused, and what it held lets the others go on.
func (f *Room) advance() {
	for len(f.queue) > 0 && f.used+f.queue[0].bytes <= f.limit {
		w := f.queue[0]
		f.queue = slices.Delete(f.queue, 0, 1)
		if w.claim.held == 0 {
			f.holders++
		}
		w.claim.held += w.bytes
		f.used += w.bytes
		w.told <- nil
	}
	if waiting := f.waitingHolders(); waiting > 0 && waiting == f.holders {
		f.queue[waiting-1].told <- ErrNoRoom
		f.queue = slices.Delete(f.queue, waiting-1, waiting)
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
