// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// maxUnread is the maximum size of all responses that are being written: eight responses of the API
// of the maximum size. One download may exceed it.
const maxUnread = 64 << 20

// unread holds the responses that are being written. If they use too much memory, the client that
// uses the most loses its oldest response: a slow client does not delay others.
type unread struct {
	mu    sync.Mutex
	queue fairshare.Queue[string, *http.ResponseController]
}

// add adds a response and returns the function that removes it.
func (u *unread) add(w http.ResponseWriter, r *http.Request, size int64) (done func()) {
	client, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		client = r.RemoteAddr
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	e := u.queue.Push(client, http.NewResponseController(w), size)
	for u.queue.Size() > maxUnread && u.queue.Len() > 1 {
		slow := u.queue.LargestOldest()
		if slow == e {
			slow = u.queue.Oldest()
		}
		u.queue.Remove(slow)
		_ = slow.Value.SetWriteDeadline(time.Unix(1, 0)) // its write fails
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.queue.Remove(e)
	}
}
