// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// request is written to the socket byte for byte as it says: Go's client would tidy up the headers that SDKs send (their
// order and case, an empty Content-Encoding), and refuse to send the hostile ones.
type request struct {
	method  string // "" = POST
	target  string // path and query
	headers [][2]string
	body    []byte
	chunked bool
}

type answer struct {
	status int
	header http.Header
	body   string
}

// requestTimeout: a chunk of 34 MB takes a second to come out at the other end, the worst of the hostile ones five. The rest
// is for a machine that has other things to do.
const requestTimeout = 60 * time.Second

// send makes one request on a connection of its own.
func (c *collector) send(t testing.TB, r request) answer {
	t.Helper()
	a, err := c.trySend(r)
	require.NoError(t, err)
	return a
}

func (c *collector) trySend(r request) (answer, error) { return sendTo(c.address, r) }

// sendTo makes a request to another receiver than Sentry's.
func sendTo(address string, r request) (answer, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return answer{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return answer{}, err
	}
	// The answer to a request that is too large comes before its end: write and read at the same time.
	written := make(chan error, 1)
	go func() { written <- r.write(connection) }()

	a, err := readAnswer(connection, r.method)
	if err != nil {
		connection.Close()
		return answer{}, fmt.Errorf("no answer: %w (writing: %v)", err, <-written)
	}
	return a, nil
}

func readAnswer(connection io.Reader, method string) (answer, error) {
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body)}, err
}

func (r request) write(connection io.Writer) error {
	out := bufio.NewWriterSize(connection, 64<<10)
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	fmt.Fprintf(out, "%s %s HTTP/1.1\r\nHost: collector.test\r\n", method, r.target)
	for _, h := range r.headers {
		fmt.Fprintf(out, "%s: %s\r\n", h[0], h[1])
	}
	if !r.chunked {
		fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", len(r.body))
		_, _ = out.Write(r.body)
		return out.Flush()
	}
	fmt.Fprintf(out, "Transfer-Encoding: chunked\r\n\r\n")
	chunks := httputil.NewChunkedWriter(out)
	for rest := bytes.NewReader(r.body); rest.Len() > 0; {
		// node writes what its stream hands it, 64 KiB at a time.
		if _, err := io.CopyN(chunks, rest, 64<<10); err != nil && err != io.EOF {
			return err
		}
	}
	if err := chunks.Close(); err != nil {
		return err
	}
	_, _ = out.WriteString("\r\n")
	return out.Flush()
}

// recorded is a request as an SDK made it, but for the host.
func recorded(from golden.Request) request {
	r := request{method: from.Method, target: from.Path, body: from.Body}
	if from.Query != "" {
		r.target += "?" + strings.TrimPrefix(from.Query, "?")
	}
	for _, h := range from.Headers {
		switch strings.ToLower(h[0]) {
		case "host":
		case "content-length":
			if h[1] != strconv.Itoa(len(from.Body)) {
				panic("the recording has a Content-Length that is not its body's: " + from.Name)
			}
		case "transfer-encoding":
			r.chunked = true
		default:
			r.headers = append(r.headers, h)
		}
	}
	return r
}

const (
	testKey  = "0123456789abcdef0123456789abcdef"
	testAuth = "Sentry sentry_version=7, sentry_client=e2e/1.0, sentry_key=" + testKey
)

// envelope is a request with an uncompressed envelope in it, as python makes them.
func envelope(body []byte) request {
	return request{
		target:  "/api/42/envelope/",
		headers: [][2]string{{"X-Sentry-Auth", testAuth}, {"Content-Type", "application/x-sentry-envelope"}},
		body:    body,
	}
}

// encoded is the same with a content encoding.
func (r request) encoded(encoding string) request {
	r.headers = append(r.headers[:len(r.headers):len(r.headers)], [2]string{"Content-Encoding", encoding})
	return r
}
