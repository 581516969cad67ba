// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/corpus"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// BenchmarkSmall compares a receiver in this process with a floor, for the recorded requests
// without profiles, as they were sent: all of them, and those with items of one type. The floor is
// net/http, inflating the same bodies, and copying the known result. Both are reached over loopback
// by the same client, whose share is in both times.
func BenchmarkSmall(b *testing.B) {
	root, err := payload.Root()
	must(err)
	recorded, err := corpus.Read(root)
	must(err)
	kinds := map[string][]corpus.Request{}
	for _, r := range recorded {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.Path, "/envelope/") || slices.ContainsFunc(r.Items, isProfile) {
			continue
		}
		kinds["mix"] = append(kinds["mix"], r)
		if slices.Equal(slices.Compact(slices.Clone(r.Items)), r.Items[:1]) {
			kinds[r.Items[0]] = append(kinds[r.Items[0]], r)
		}
	}
	own, floor := startSmall(), &copier{}
	defer own.stop()
	defer floor.serve()()
	onEach(b, nil, nil) // prints the load
	for _, kind := range []string{"mix", "event", "transaction", "span", "log", "trace_metric", "session", "sessions", "check_in", "client_report"} {
		requests := kinds[kind]
		if len(requests) == 0 {
			continue
		}
		b.Run(kind, func(b *testing.B) {
			var toOwn, toFloor [][]byte
			floor.results = nil
			for i, r := range requests {
				own.results = nil
				bytes := serialize(r, "")
				own.connection.exchange(bytes)
				floor.results = append(floor.results, own.results)
				toOwn = append(toOwn, bytes)
				toFloor = append(toFloor, serialize(r, strconv.Itoa(i)))
			}
			own.forget = true
			defer func() { own.forget = false }()
			took := race(b, func() { own.connection.exchange(toOwn...) }, func() { floor.connection.exchange(toFloor...) })
			report(b, "own÷floor", took[0], took[1])
			objects, size := allocated(func() { own.connection.exchange(toOwn...) })
			n := float64(len(requests))
			b.ReportMetric(objects/n, "objects÷request")
			b.ReportMetric(size/n/1024, "KiB÷request")
		})
	}
}

func isProfile(item string) bool { return strings.HasPrefix(item, "profile") }

// serialize returns the bytes of a request. index is that of its known result at the floor.
func serialize(r corpus.Request, index string) []byte {
	var text bytes.Buffer
	query := r.Query
	if query != "" {
		query = "?" + query
	}
	fmt.Fprintf(&text, "POST %s%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nX-Index: %s\r\n", r.Path, query, len(r.Body), index)
	for _, h := range r.Headers {
		switch http.CanonicalHeaderKey(h[0]) {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect":
		default:
			fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
		}
	}
	text.WriteString("\r\n")
	text.Write(r.Body)
	return text.Bytes()
}

// connection is a client that only counts the bytes of responses.
type connection struct {
	net.Conn
	responses *bufio.Reader
}

func dial(address string) *connection {
	c, err := net.Dial("tcp", address)
	must(err)
	return &connection{c, bufio.NewReader(c)}
}

// exchange sends requests and waits for each response.
func (c *connection) exchange(requests ...[]byte) {
	for _, request := range requests {
		_, err := c.Write(request)
		must(err)
		length := 0
		for i := 0; ; i++ {
			line, err := c.responses.ReadSlice('\n')
			must(err)
			if i == 0 && !bytes.Contains(line, []byte(" 200 ")) {
				panic(fmt.Sprintf("%s for %.300s", line, request))
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
				must(err)
			}
			if len(line) <= 2 {
				break
			}
		}
		_, err = c.responses.Discard(length)
		must(err)
	}
}

// small is a receiver in this process, which keeps its output.
type small struct {
	components []component.Component
	connection *connection
	results    []any
	forget     bool
}

func startSmall() *small {
	ctx := context.Background()
	s := &small{}
	addresses, err := freePorts(1)
	must(err)
	factory := sentryreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*sentryreceiver.Config)
	cfg.HTTP.NetAddr.Endpoint = addresses[0]
	cfg.Dedup.MaxAge = 0 // the same requests are sent again
	set := receivertest.NewNopSettings(factory.Type())
	t, err := consumer.NewTraces(keep[ptrace.Traces](s))
	must(err)
	l, err := consumer.NewLogs(keep[plog.Logs](s))
	must(err)
	m, err := consumer.NewMetrics(keep[pmetric.Metrics](s))
	must(err)
	traces, err := factory.CreateTraces(ctx, set, cfg, t)
	must(err)
	logs, err := factory.CreateLogs(ctx, set, cfg, l)
	must(err)
	metrics, err := factory.CreateMetrics(ctx, set, cfg, m)
	must(err)
	s.components = []component.Component{traces, logs, metrics}
	for _, c := range s.components {
		must(c.Start(ctx, componenttest.NewNopHost()))
	}
	s.connection = dial(addresses[0])
	return s
}

func keep[T any](s *small) func(context.Context, T) error {
	return func(_ context.Context, result T) error {
		if !s.forget {
			s.results = append(s.results, result)
		}
		return nil
	}
}

func (s *small) stop() {
	ctx := context.Background()
	s.connection.Close()
	for _, c := range s.components {
		must(c.Shutdown(ctx))
	}
}

// copier is the floor.
type copier struct {
	connection *connection
	results    [][]any // of each request
	inflate    gzip.Reader
	body       bytes.Buffer
}

func (f *copier) serve() (stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	server := http.Server{Handler: f}
	go func() { _ = server.Serve(listener) }()
	f.connection = dial(listener.Addr().String())
	return func() { _ = server.Close() }
}

// ServeHTTP implements http.Handler, for one client.
func (f *copier) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var from io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		must(f.inflate.Reset(req.Body))
		from = &f.inflate
	}
	f.body.Reset()
	_, err := f.body.ReadFrom(from)
	must(err)
	index, err := strconv.Atoi(req.Header.Get("X-Index"))
	must(err)
	for _, result := range f.results[index] {
		switch result := result.(type) {
		case ptrace.Traces:
			result.CopyTo(ptrace.NewTraces())
		case plog.Logs:
			result.CopyTo(plog.NewLogs())
		case pmetric.Metrics:
			result.CopyTo(pmetric.NewMetrics())
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte("{}"))
}
