// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"bytes"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// A request with a Content-Length beside Transfer-Encoding: chunked may be an attempt to make a
// proxy in front and this server disagree where the next request begins. RFC 9112 (6.1) permits
// a server to reject it, and requires it to close the connection. net/http accepts it and removes
// the Content-Length, so it is read from the connection. The head of each request is found without
// another parser: it begins after the body of the previous one, whose length net/http knows, or on
// a new connection, because a chunked body ends its connection.
//
// With TLS, net/http needs its own connection, so the request is not rejected; its connection ends.

// headConn remembers whether the head of the request that is read has a Content-Length.
type headConn struct {
	net.Conn

	mu       sync.Mutex // net/http reads ahead while the handler runs
	line     []byte     // the start of the current line
	begun    bool       // the head has a line
	length   bool       // the head has a Content-Length
	complete bool       // the head
	after    []byte     // bytes after the head: at most one buffer of net/http
	skip     int64      // bytes of a body before the next head
	done     bool       // no further request follows
}

// lengthField is the start of a line with the length. net/http rejects a blank before the colon.
const lengthField = "content-length:"

// CloseWrite ends the output of the connection. net/http calls it after responses to requests that
// it does not read, such as 431, because closing the connection would discard the response.
func (c *headConn) CloseWrite() error {
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// Read implements net.Conn.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scan(p[:n])
	return n, err
}

func (c *headConn) scan(read []byte) {
	skipped := min(c.skip, int64(len(read)))
	c.skip -= skipped
	for read = read[skipped:]; len(read) > 0 && !c.complete && !c.done; {
		part, rest, ended := bytes.Cut(read, []byte("\n")) // net/http accepts lines without CR
		c.line = append(c.line, part[:min(len(part), len(lengthField)-len(c.line))]...)
		if read = rest; !ended {
			return
		}
		empty := len(bytes.TrimSuffix(c.line, []byte("\r"))) == 0
		c.complete, c.begun = empty && c.begun, c.begun || !empty // net/http skips empty lines after a POST
		c.length = c.length || bytes.EqualFold(c.line, []byte(lengthField))
		c.line = c.line[:0]
	}
	if c.complete && len(c.after)+len(read) <= maxHeaderBytes {
		c.after = append(c.after, read...)
	}
}

// statesLength reports whether the head of a request has a Content-Length, and continues with the
// next head.
func (c *headConn) statesLength(req *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, after := c.length, c.after
	c.begun, c.length, c.complete, c.after = false, false, false, nil
	c.skip, c.done = max(req.ContentLength, 0), req.ContentLength < 0
	c.scan(after)
	return found
}

// keepHeads makes the heads of a connection available to twoLengths.
func keepHeads(conn net.Conn) net.Conn {
	if _, encrypted := conn.(*tls.Conn); encrypted {
		return conn
	}
	return &headConn{Conn: conn}
}

// twoLengths reports whether a request of HTTP/1 has both, and ends its connection if it may.
func twoLengths(w http.ResponseWriter, req *http.Request, conn net.Conn) bool {
	chunked := len(req.TransferEncoding) > 0
	if chunked {
		w.Header().Set("Connection", "close")
	}
	heads, ok := conn.(*headConn)
	return ok && heads.statesLength(req) && chunked
}
