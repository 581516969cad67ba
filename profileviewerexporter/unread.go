// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// maxUnread is the number of bytes of all responses together that wait for their readers. Eight of the largest responses of the API
// fit, and one download of any size.
const maxUnread = 64 << 20

// unread is the responses that are being written. If they take too much memory, the client with the most loses its oldest one: a
// slow reader delays no other reader.
type unread struct {
	mu    sync.Mutex
	queue fairshare.Queue[string, *http.ResponseController]
}

// add returns the function that ends the response.
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
