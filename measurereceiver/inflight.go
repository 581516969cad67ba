package measurereceiver

import (
	"io"
	"sync/atomic"
)

// defaultMaxBytesInFlight is that of six batches of the largest size, or of thousands as SDKs send them.
const defaultMaxBytesInFlight = 128 << 20

// inFlight bounds the bytes of all bodies together that are being read or worked on. Who does not fit is refused at once, and
// not made to wait: SDKs keep the batch, and what it had read is free for the others.
type inFlight struct {
	limit int64
	used  atomic.Int64
}

var errBusy = busy(reasonBytesInFlight)

// countedBody is a decompressed body that takes its bytes from the limit as they come: a client that sends slowly, or only says
// how much it will send, holds no more than it has sent.
type countedBody struct {
	io.ReadCloser
	room *inFlight
	held int64
}

// Read fails with errBusy when there is no room.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.held += int64(n)
	if b.room.used.Add(int64(n)) > b.room.limit {
		return 0, errBusy
	}
	return n, err
}

// release gives back everything, when the body and what was made of it are done with.
func (b *countedBody) release() { b.room.used.Add(-b.held) }
