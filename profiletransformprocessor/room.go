package profiletransformprocessor

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// held is a message that waits for its spans.
type held struct {
	profiles pprofile.Profiles
	client   client.Info // who sent it: exporters may go by that
	arrived  time.Time
	bytes    int64
	key      uint64 // in the storage; 0 for none
}

// waitingRoom has the messages that wait, by arrival. All wait equally long, so that this is also the order of leaving.
type waitingRoom struct {
	maxCount  int
	maxBytes  int64
	telemetry *telemetry

	mu    sync.Mutex
	queue []*held
	bytes int64
}

func (r *waitingRoom) add(ctx context.Context, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, h)
	r.bytes += h.bytes
	r.telemetry.heldChanged(ctx, 1, h.bytes)
}

// leastPause keeps a processor that lets nothing wait, or hardly, from asking all the time.
const leastPause = 100 * time.Millisecond

// takeDue gives the first if it has waited long enough; else nil, and for how long there is nothing to do.
func (r *waitingRoom) takeDue(ctx context.Context, now time.Time, wait time.Duration) (h *held, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return nil, max(wait, leastPause)
	}
	if pause := wait - now.Sub(r.queue[0].arrived); pause > 0 {
		return nil, pause
	}
	return r.take(ctx), 0
}

// takeSurplus gives the first if there is too much.
func (r *waitingRoom) takeSurplus(ctx context.Context) *held {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) <= r.maxCount && r.bytes <= r.maxBytes {
		return nil
	}
	return r.take(ctx)
}

// takeFirst gives the first, nil if there is none.
func (r *waitingRoom) takeFirst(ctx context.Context) *held {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return nil
	}
	return r.take(ctx)
}

func (r *waitingRoom) take(ctx context.Context) *held {
	h := r.queue[0]
	r.queue[0] = nil
	r.queue = r.queue[1:]
	r.bytes -= h.bytes
	r.telemetry.heldChanged(ctx, -1, -h.bytes)
	return h
}
