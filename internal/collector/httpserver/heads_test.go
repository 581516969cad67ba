// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTwoLengths: a Content-Length beside a chunked body is rejected, wherever the request is on
// its connection and however it arrives, and a chunked body is the last request of its connection.
func TestTwoLengths(t *testing.T) {
	paths := make(chan string, 100)
	s, url := serve(t, func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		paths <- fmt.Sprint(req.URL.Path, len(body))
	})
	const (
		get      = "GET /get HTTP/1.1\r\nHost: x\r\n\r\n"
		post     = "POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: 23\r\n\r\nContent-Length: 7\r\n\r\n\r\n"
		smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
		body     = "\r\n\r\n5\r\nab\r\nc\r\n0\r\n\r\n"
	)
	for _, c := range []struct {
		requests string
		statuses string
		handled  string
	}{
		{"POST /both HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked" + body, "400", ""},
		{"POST /both HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\ncOntent-lengtH:60" + body, "400", ""},
		{"POST /both HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\nContent-Length: 0" + body, "400", ""},
		{get + post + get + "POST /both HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 60" + body, "200 200 200 400", "/get0 /post23 /get0"},
		{get + post + "POST /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX: Content-Length: 1" + body, "200 200 200", "/get0 /post23 /chunked5"},
		{post + get + smuggled, "200 200 200", "/post23 /get0 /smuggled0"},
		{post + "\r\n\r\n" + get + post + "\n" + "POST /both HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 60" + body, "200 200 200 400", "/post23 /get0 /post23"},
	} {
		for _, step := range []int{1, 7, 10_000} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			require.NoError(t, err)
			go func() { // in pieces
				for rest := c.requests + smuggled; len(rest) > 0; rest = rest[min(step, len(rest)):] {
					if _, err := conn.Write([]byte(rest[:min(step, len(rest))])); err != nil {
						return
					}
					time.Sleep(10 * time.Microsecond)
				}
			}()
			answer, _ := io.ReadAll(conn) // the rest may reset the connection
			conn.Close()
			var statuses, handled []string
			for _, part := range strings.Split(string(answer), "HTTP/1.1 ")[1:] {
				statuses = append(statuses, part[:3])
			}
			for len(paths) > 0 {
				handled = append(handled, <-paths)
			}
			assert.Equal(t, c.statuses, strings.Join(statuses, " "), "%q in steps of %d", c.requests, step)
			assert.Equal(t, c.handled, strings.Join(handled, " "), "%q in steps of %d", c.requests, step)
		}
	}
	_, err := s.Shutdown(t.Context(), time.Minute)
	assert.NoError(t, err)
}

// TestLongHeads: the client receives the response to a head that is too long, although it is not
// read.
func TestLongHeads(t *testing.T) {
	_, url := serve(t, func(http.ResponseWriter, *http.Request) {})
	for range 10 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		go func() {
			_, _ = io.WriteString(conn, "GET /"+strings.Repeat("a", 4<<20)+" HTTP/1.1\r\nHost: x\r\n\r\n") // the connection may end before
		}()
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		assert.Contains(t, string(answer), " 431 ")
		conn.Close()
	}
}
