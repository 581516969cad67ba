// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// maxDiscardTime is the maximum time for which the rest of a rejected body is read. A phone on a
// slow network sends half a megabyte in that time. Rejected clients use a connection no longer than
// this.
const maxDiscardTime = 30 * time.Second

// Discard reads and drops the rest of the body of a rejected request. Clients often miss a response
// that arrives while they send, and SDKs with an offline cache would send the body again. A client
// that waits for 100 Continue has not sent a body.
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

// discardStep is the number of bytes between two checks of the time. Package httpserver enforces a
// minimum rate.
const discardStep = 16 << 10
