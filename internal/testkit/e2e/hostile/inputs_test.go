// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestHostileInputs: floods of the OTLP ports of the container image, with its configuration and in
// 1 GiB. During each flood, clients with a DSN are served.
func TestHostileInputs(t *testing.T) {
	varies(t, "floods of the OTLP ports of the container image, with its configuration")
	for _, a := range inputAttacks {
		t.Run(a.name, a.run)
	}
	t.Run("HTTP: 2,000 connections that send only headers", func(t *testing.T) {
		idleInputs(t, 2000, func(in inputs) (string, []byte) {
			return in.http, []byte("POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 1000\r\n\r\n")
		})
	})
	t.Run("gRPC: 2,000 connections without a call", func(t *testing.T) {
		idleInputs(t, 2000, func(in inputs) (string, []byte) {
			return in.grpc, []byte(http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00")
		})
	})
}

// idleInputs opens connections and keeps them. The receiver does not limit them; docs/attacks.md
// states the memory of each.
func idleInputs(t *testing.T, n int, open func(inputs) (address string, begin []byte)) {
	c, in := startImage(t)
	address, message := open(in)
	before, begin := c.RequirePeakMemory(t), time.Now()
	for range n {
		connection, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer connection.Close()
		_, err = connection.Write(message)
		require.NoError(t, err)
	}
	time.Sleep(time.Second)
	got := c.Send(t, harness.Chunk{}.Request())
	assert.Equal(t, http.StatusOK, got.Status)
	t.Logf("%d KiB per connection", (c.RequirePeakMemory(t)-before)*1024/n)
	reportAttack(t, c, n*len(message), noAnswer, time.Since(begin), memoryLimit)
}

// inputAttack is a request that many clients repeat.
type inputAttack struct {
	name    string
	clients int
	body    func() []byte
	send    func(ctx context.Context, in inputs, body []byte) (status int, err error)
}

// inputs are the addresses of the OTLP ports of the image, and of its viewer.
type inputs struct{ http, grpc, page string }

// floodTime returns the duration of each flood. Without limits, the collector ended within a
// second.
func floodTime() time.Duration {
	if os.Getenv("ATTACKS") == "full" {
		return 5 * time.Second
	}
	return time.Second
}

// twoMillion empty messages have 4 MiB.
const twoMillion = 2<<20 - 32

var inputAttacks = []inputAttack{
	{name: "HTTP: 4 kB of gzip with 2 million empty spans", clients: 8, body: func() []byte { return zipped(emptyMessages(twoMillion, 2, 1, 2)) }, send: httpInput("/v1/traces", "gzip")},
	{name: "HTTP: 4 kB of gzip with 2 million empty log records", clients: 8, body: func() []byte { return zipped(emptyMessages(twoMillion, 2, 1, 2)) }, send: httpInput("/v1/logs", "gzip")},
	{name: "HTTP: 4 kB of gzip with 2 million empty histogram points", clients: 8, body: func() []byte { return zipped(emptyMessages(twoMillion, 1, 1, 2, 2, 10)) }, send: httpInput("/v1/metrics", "gzip")},
	{name: "HTTP: 4 kB of gzip with 2 million empty profiles", clients: 8, body: func() []byte { return zipped(emptyMessages(twoMillion, 2, 1, 2)) }, send: httpInput(harness.ProfilesPath, "gzip")},
	{name: "HTTP: 220 kB with 110,000 empty spans", clients: 16, body: func() []byte { return emptyMessages(110_000, 2, 1, 2) }, send: httpInput("/v1/traces", "")},
	{name: "HTTP: 4 kB of gzip with a million empty spans in JSON", clients: 8, body: func() []byte {
		return zipped([]byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{}` + strings.Repeat(",{}", 1<<20) + `]}]}]}`))
	}, send: httpInput("/v1/traces", "gzip+json")},
	{name: "HTTP: JSON nested 2,000 levels deep", clients: 8, body: func() []byte { return zipped(deepJSON(2000)) }, send: httpInput("/v1/traces", "gzip+json")},
	{name: "HTTP: 4 MiB of JSON nested 85,000 levels deep", clients: 8, body: func() []byte { return zipped(deepJSON(85_000)) }, send: httpInput("/v1/traces", "gzip+json")},
	{name: "HTTP: 4 MiB nested 400,000 levels deep", clients: 8, body: func() []byte { return zipped(deepSpan(400_000)) }, send: httpInput("/v1/traces", "gzip")},
	{name: "HTTP: 64 zstd frames with a window of 512 MiB", clients: 64, body: zstdWindow, send: httpInput("/v1/traces", "zstd")},
	{name: "gRPC: 4 kB of gzip with 2 million empty spans", clients: 8, body: func() []byte { return grpcFrame(zipped(emptyMessages(twoMillion, 2, 1, 2))) }, send: grpcInput("trace.v1.TraceService", "gzip")},
	{name: "gRPC: 1 kB of gzip with 500,000 empty spans", clients: 16, body: func() []byte { return grpcFrame(zipped(emptyMessages(500_000, 2, 1, 2))) }, send: grpcInput("trace.v1.TraceService", "gzip")},
	{name: "gRPC: 4 kB of gzip with 2 million empty histogram points", clients: 8, body: func() []byte { return grpcFrame(zipped(emptyMessages(twoMillion, 1, 1, 2, 2, 10))) }, send: grpcInput("metrics.v1.MetricsService", "gzip")},
	{name: "gRPC: 64 zstd frames with a window of 512 MiB", clients: 64, body: func() []byte { return grpcFrame(zstdWindow()) }, send: grpcInput("trace.v1.TraceService", "zstd")},
	{name: "gRPC: 300 messages of 4 MiB that stall before the last byte", clients: 300, body: func() []byte {
		frame := grpcFrame(make([]byte, 4<<20-16))
		frame[0] = 0
		return frame[:len(frame)-1]
	}, send: stalledGRPC},
	{name: "gRPC: 64 calls with 400,000 headers that are one byte each", clients: 64, body: manyHeaders, send: heldGRPC},
}

// emptyMessages returns n empty messages of field last, in the messages of path.
func emptyMessages(n int, last protowire.Number, path ...protowire.Number) []byte {
	message := bytes.Repeat(append(protowire.AppendTag(nil, last, protowire.BytesType), 0), n)
	for i := len(path) - 1; i >= 0; i-- {
		message = protowire.AppendBytes(protowire.AppendTag(nil, path[i], protowire.BytesType), message)
	}
	return message
}

// deepSpan returns a message with an attribute of a resource that is nested n levels deep.
func deepSpan(n int) []byte {
	buffer := make([]byte, 16*n+100) // filled from its end
	at := len(buffer)
	put := func(number protowire.Number) {
		head := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(len(buffer)-at))
		at -= len(head)
		copy(buffer[at:], head)
	}
	for range n {
		put(1)
		put(5)
	}
	for _, number := range []protowire.Number{2, 1, 1, 1} { // value, attribute, resource, resource spans
		put(number)
	}
	return buffer[at:]
}

// deepJSON is deepSpan in JSON.
func deepJSON(n int) []byte {
	return []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":` + strings.Repeat(`{"kvlistValue":{"values":[{"key":"a","value":`, n) +
		`{}` + strings.Repeat(`}]}}`, n) + `}]}}]}`)
}

// zstdWindow returns a frame of 86 bytes that states a window of 512 MiB.
func zstdWindow() []byte {
	const (
		windowLog512MiB = (29 - 10) << 3
		last, raw       = 1, 0 << 1
		content         = 77
	)
	header := uint32(content<<3 | raw | last)
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, windowLog512MiB, byte(header), byte(header >> 8), byte(header >> 16)}
	return append(frame, make([]byte, content)...)
}

// httpInput sends a body to a path. encoding is a content coding, with +json for OTLP/JSON.
func httpInput(path, encoding string) func(context.Context, inputs, []byte) (int, error) {
	coding, json := strings.CutSuffix(encoding, "+json")
	return func(ctx context.Context, in inputs, body []byte) (int, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+in.http+path, bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		request.Header.Set("Content-Type", "application/x-protobuf")
		if json {
			request.Header.Set("Content-Type", "application/json")
		}
		if coding != "" {
			request.Header.Set("Content-Encoding", coding)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode, nil
	}
}

// grpcInput sends a frame to a service.
func grpcInput(service, encoding string) func(context.Context, inputs, []byte) (int, error) {
	return func(ctx context.Context, in inputs, frame []byte) (int, error) {
		return callRaw(ctx, in.grpc, service, encoding, bytes.NewReader(frame))
	}
}

// stalledGRPC sends a frame and never ends it.
func stalledGRPC(ctx context.Context, in inputs, frame []byte) (int, error) {
	never, end := io.Pipe()
	defer end.Close()
	return callRaw(ctx, in.grpc, "trace.v1.TraceService", "", io.MultiReader(bytes.NewReader(frame), never))
}

// manyHeaders returns the begin of a connection with a call whose header block refers to an entry
// of the dynamic table of HPACK (RFC 7541) again and again.
func manyHeaders() []byte {
	const maxFrame, n = 16 << 10, 400_000
	var out, head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"}, {"te", "trailers"},
		{"content-type", "application/grpc"}, {"a", "b"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	head.Write(bytes.Repeat([]byte{0x80 | 62}, n)) // the newest entry
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Next(maxFrame)})
	for head.Len() > maxFrame {
		_ = framer.WriteContinuation(1, false, head.Next(maxFrame))
	}
	_ = framer.WriteContinuation(1, true, head.Bytes())
	return out.Bytes()
}

// heldGRPC sends the begin of a connection and reads until the server closes it.
func heldGRPC(ctx context.Context, in inputs, begin []byte) (int, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", in.grpc)
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err = conn.Write(begin); err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, conn)
	return 0, err
}

// callRaw sends raw bytes, over a connection of its own, and returns the status of gRPC.
func callRaw(ctx context.Context, address, service, encoding string, body io.Reader) (status int, err error) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/opentelemetry.proto.collector."+service+"/Export", body)
	if err != nil {
		return 0, err
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	if encoding != "" {
		request.Header.Set("Grpc-Encoding", encoding)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	text := response.Trailer.Get("Grpc-Status")
	if text == "" {
		text = response.Header.Get("Grpc-Status")
	}
	_, err = fmt.Sscan(text, &status)
	return status, err
}

// run floods the collector and meanwhile sends valid profiles with a DSN, one after the other.
func (a inputAttack) run(t *testing.T) {
	c, in := startImage(t)
	body := a.body()
	ctx, cancel := context.WithTimeout(t.Context(), floodTime())
	defer cancel()
	begin := time.Now()
	var clients sync.WaitGroup
	var sent, unanswered atomic.Int64
	var statuses sync.Map
	for range a.clients {
		clients.Go(func() {
			for ctx.Err() == nil {
				status, err := a.send(ctx, in, body)
				sent.Add(1)
				if err != nil {
					unanswered.Add(1)
					time.Sleep(10 * time.Millisecond)
					continue
				}
				n, _ := statuses.LoadOrStore(status, new(atomic.Int64))
				n.(*atomic.Int64).Add(1)
			}
		})
	}
	var slowest time.Duration
	good, refused := 0, 0
	for ctx.Err() == nil && c.Running() {
		time.Sleep(50 * time.Millisecond)
		sending := time.Now()
		got, err := c.TrySend(harness.Chunk{}.Request())
		slowest = max(slowest, time.Since(sending))
		if err != nil || got.Status != http.StatusOK {
			refused++
			continue
		}
		good++
	}
	clients.Wait()
	counts, most := []string{}, 0
	statuses.Range(func(status, n any) bool {
		counts, most = append(counts, fmt.Sprintf("%d: %d", status, n.(*atomic.Int64).Load())), status.(int)
		return true
	})
	t.Logf("%d sent, %d without a response, %s; %d valid profiles accepted, %d refused, the slowest in %s",
		sent.Load(), unanswered.Load(), strings.Join(counts, ", "), good, refused, slowest.Round(time.Millisecond))
	require.True(t, c.Running(), "the collector lives")
	assert.Zero(t, refused, "refused valid profiles")
	assert.NotZero(t, good)
	reportAttack(t, c, int(sent.Load())*len(body), most, time.Since(begin), attackLimit)
}

// startImage starts a collector with the configuration of the container image, on other ports, and
// with the memory settings that packaging/README.md advises for 1 GiB.
func startImage(t *testing.T) (*harness.Collector, inputs) { return startImageWith(t) }

// startImageWith starts it with replacements in the configuration.
func startImageWith(t *testing.T, replacements ...string) (*harness.Collector, inputs) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "packaging", "image", "config.yaml"))
	require.NoError(t, err)
	in := inputs{http: harness.FreeAddress(t), grpc: harness.FreeAddress(t), page: harness.FreeAddress(t)}
	config := strings.NewReplacer(append(replacements,
		"0.0.0.0:4317", in.grpc, "0.0.0.0:4318", in.http, "0.0.0.0:4319", "ENDPOINT", "0.0.0.0:4321", in.page,
		"0.0.0.0:13133", harness.FreeAddress(t), "/var/lib/otelcol-sentry", t.TempDir(),
		"limit_percentage: 70", "limit_mib: 716", "spike_limit_percentage: 15", "spike_limit_mib: 153",
	)...).Replace(string(text))
	t.Setenv("GOMEMLIMIT", "819MiB")
	c := harness.Start(t, harness.Settings{MemoryLimit: attackLimit, Config: config})
	return c, in
}

// TestHostileLabels: hosts, methods, paths and services that clients invent create no series, also
// not at the level detailed, with the views of docs/operations.md.
func TestHostileLabels(t *testing.T) {
	varies(t, "text of clients in labels of metrics")
	page, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "operations.md"))
	require.NoError(t, err)
	_, views, _ := strings.Cut(string(page), "    level: detailed\n")
	views, _, found := strings.Cut(views, "```")
	require.True(t, found)
	views = "      " + strings.ReplaceAll(strings.TrimSpace(views), "\n", "\n  ") + "\n"
	c, in := startImageWith(t, "      readers: # the", views+"      readers: # the")
	series := func() int { return len(c.Scrape(t)) }
	send := func(from, n int) {
		for i := from; i < from+n; i++ {
			for _, address := range []string{c.Address, in.http, in.page} {
				request, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://%s/v1/%d?%d", address, i, i), strings.NewReader("{}"))
				require.NoError(t, err)
				request.Host = fmt.Sprintf("h%d.example:%d", i, i%60_000+1)
				if i%2 == 0 {
					request.Method = fmt.Sprint("M", i)
				}
				response, err := http.DefaultClient.Do(request)
				require.NoError(t, err)
				response.Body.Close()
			}
			_, _ = callRaw(t.Context(), in.grpc, fmt.Sprintf("invented%d.Service", i), "", bytes.NewReader(grpcFrame(nil)))
			_, _ = callRaw(t.Context(), in.grpc, "trace.v1.TraceService", fmt.Sprint("encoding", i), bytes.NewReader(grpcFrame(nil)))
		}
	}
	send(0, 4)
	before := series()
	send(4, 100)
	assert.Equal(t, before, series(), "series after 500 further requests")
}
