// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// maxDiscardTime is how long the rest of a refused body is read. A phone on a bad network sends half a megabyte in that time; a client
// that is refused holds its connection no longer.
const maxDiscardTime = 30 * time.Second

// Discard reads what is left of the body of a request, as it came and into no memory, before it is refused: an answer in the
// middle of a body often does not arrive, and SDKs with an offline cache would send again. Whoever waits for 100 Continue has
// sent no body yet.
func Discard(r *http.Request) {
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	for end := time.Now().Add(maxDiscardTime); time.Now().Before(end); {
		if _, err := io.CopyN(io.Discard, r.Body, discardStep); err != nil {
			return
		}
	}
}

// discardStep is how much is read between two looks at the clock. A body has a minimum rate, see package httpserver.
const discardStep = 16 << 10
