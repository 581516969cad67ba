// SPDX-License-Identifier: Apache-2.0

package harness

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

// Request is an HTTP request that is written to the socket byte for byte: Go's client normalizes
// headers that SDKs send (their order and case, an empty Content-Encoding) and refuses to send
// hostile ones.
type Request struct {
	Method  string // "" = POST
	Target  string // path and query
	Headers [][2]string
	Body    []byte
	Chunked bool
}

// Response is an HTTP response with its whole body.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// RequestTimeout bounds a request and its response: a chunk of 34 MB takes a second, the slowest
// attack five. The rest is for a busy machine.
const RequestTimeout = 5 * time.Minute

// Send sends a request to the Sentry receiver, on a connection of its own.
func (c *Collector) Send(t testing.TB, r Request) Response {
	t.Helper()
	a, err := c.TrySend(r)
	require.NoError(t, err)
	return a
}

// TrySend is Send for a collector that may not be running.
func (c *Collector) TrySend(r Request) (Response, error) { return SendTo(c.Address, r) }

// SendTo sends a request to an address, on a connection of its own.
func SendTo(address string, r Request) (Response, error) { return SendFrom(nil, address, r) }

// SendFrom is SendTo from an address of this machine: on Linux, any in 127.0.0.0/8.
func SendFrom(local net.IP, address string, r Request) (Response, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: local}}
	connection, err := dialer.Dial("tcp", address)
	if err != nil {
		return Response{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(RequestTimeout)); err != nil {
		return Response{}, err
	}
	// The response to a request that is too large comes before the end of the request: write and
	// read at the same time.
	written := make(chan error, 1)
	go func() { written <- r.write(connection) }()

	a, err := ReadResponse(connection, r.Method)
	if err != nil {
		connection.Close()
		return Response{}, fmt.Errorf("no answer: %w (writing: %v)", err, <-written)
	}
	return a, nil
}

// ReadResponse reads the response to a request of the method.
func ReadResponse(connection io.Reader, method string) (Response, error) {
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Response{response.StatusCode, response.Header, string(body)}, err
}

func (r Request) write(connection io.Writer) error {
	out := bufio.NewWriterSize(connection, 64<<10)
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	fmt.Fprintf(out, "%s %s HTTP/1.1\r\nHost: collector.test\r\n", method, r.Target)
	for _, h := range r.Headers {
		fmt.Fprintf(out, "%s: %s\r\n", h[0], h[1])
	}
	if !r.Chunked {
		fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", len(r.Body))
		_, _ = out.Write(r.Body)
		return out.Flush()
	}
	fmt.Fprintf(out, "Transfer-Encoding: chunked\r\n\r\n")
	chunks := httputil.NewChunkedWriter(out)
	for rest := bytes.NewReader(r.Body); rest.Len() > 0; {
		// Chunks of 64 KiB, as node writes them.
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

// RecordedRequest returns a request as an SDK made it, except for the host.
func RecordedRequest(from golden.Request) Request {
	r := Request{Method: from.Method, Target: from.Path, Body: from.Body}
	if from.Query != "" {
		r.Target += "?" + strings.TrimPrefix(from.Query, "?")
	}
	for _, h := range from.Headers {
		switch strings.ToLower(h[0]) {
		case "host":
		case "content-length":
			if h[1] != strconv.Itoa(len(from.Body)) {
				panic("the recording has a Content-Length that is not its body's: " + from.Name)
			}
		case "transfer-encoding":
			r.Chunked = true
		default:
			r.Headers = append(r.Headers, h)
		}
	}
	return r
}

// Credentials of the project 42.
const (
	TestKey  = "0123456789abcdef0123456789abcdef"
	TestAuth = "Sentry sentry_version=7, sentry_client=e2e/1.0, sentry_key=" + TestKey
)

// EnvelopeRequest returns a request with an uncompressed envelope, with the headers of the Python
// SDK.
func EnvelopeRequest(body []byte) Request {
	return Request{
		Target:  "/api/42/envelope/",
		Headers: [][2]string{{"X-Sentry-Auth", TestAuth}, {"Content-Type", "application/x-sentry-envelope"}},
		Body:    body,
	}
}

// WithEncoding returns the request with a Content-Encoding header.
func (r Request) WithEncoding(encoding string) Request {
	r.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)], [2]string{"Content-Encoding", encoding})
	return r
}
