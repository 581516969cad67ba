// SPDX-License-Identifier: Apache-2.0

// Command go runs the activities of a small shop with Sentry's Go SDK. SENTRY_DSN is the
// destination; the argument selects the kind of profiling.
//
// It prints a report as JSON: the data that the SDK passed to its transport, and the duration of
// the busy functions. The SDK does not report dropped data or the IDs of profiles.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/getsentry/sentry-go"
)

const rounds = 10

type busy struct {
	Function string  `json:"function"`
	Span     string  `json:"span"`
	Thread   string  `json:"thread"`
	Seconds  float64 `json:"seconds"`
}

var (
	mu   sync.Mutex
	said = struct {
		Version string   `json:"version"`
		Spans   []string `json:"spans"`
		Errors  []string `json:"errors"`
		Logs    []string `json:"logs"`
		Busy    []busy   `json:"busy"`
	}{Version: sentry.SDKVersion}
)

// reporting is the SDK's own transport. It also records its input.
type reporting struct{ *sentry.HTTPTransport }

func (r reporting) SendEvent(event *sentry.Event) {
	mu.Lock()
	switch event.Type {
	case "transaction":
		for _, span := range event.Spans {
			said.Spans = append(said.Spans, span.TraceID.String()+"/"+span.SpanID.String())
		}
		trace := event.Contexts["trace"]
		said.Spans = append(said.Spans, text(trace["trace_id"])+"/"+text(trace["span_id"]))
	case "":
		said.Errors = append(said.Errors, string(event.EventID))
	default:
		said.Logs = append(said.Logs, bodies(event)...)
	}
	mu.Unlock()
	r.HTTPTransport.SendEvent(event)
}

func text(id any) string {
	return id.(interface{ String() string }).String()
}

func spin(d time.Duration) (x float64) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		x = math.Sqrt(x + 1.7)
	}
	return x
}

//go:noinline
func priceCart(d time.Duration) float64 { return spin(d) + 1 }

//go:noinline
func checkStock(d time.Duration) float64 { return spin(d) + 2 }

//go:noinline
func renderPage(d time.Duration) float64 { return spin(d) + 3 }

//go:noinline
func compressPage(d time.Duration) float64 { return spin(d) + 4 }

func run(ctx context.Context, function string, work func(time.Duration) float64, d time.Duration, thread, name string) {
	span := sentry.StartSpan(ctx, "task", sentry.WithDescription(name))
	start := time.Now()
	work(d)
	took := time.Since(start).Seconds()
	span.Finish()

	mu.Lock()
	defer mu.Unlock()
	i := slices.IndexFunc(said.Busy, func(b busy) bool { return b.Span == name })
	if i < 0 {
		i = len(said.Busy)
		said.Busy = append(said.Busy, busy{Function: function, Span: name, Thread: thread})
	}
	said.Busy[i].Seconds += took
}

func checkout(ctx context.Context) {
	order := sentry.StartSpan(ctx, "task", sentry.WithDescription("order"))
	defer order.Finish()
	run(order.Context(), "priceCart", priceCart, 350*time.Millisecond, "checkout", "price")
	run(order.Context(), "checkStock", checkStock, 150*time.Millisecond, "checkout", "stock")
}

func report(ctx context.Context) {
	run(ctx, "renderPage", renderPage, 300*time.Millisecond, "report", "render")
	run(ctx, "compressPage", compressPage, 200*time.Millisecond, "report", "compress")
}

func transaction(name string, round func(context.Context)) {
	ctx := sentry.SetHubOnContext(context.Background(), sentry.CurrentHub().Clone())
	root := sentry.StartTransaction(ctx, name)
	defer root.Finish()
	for range rounds {
		round(root.Context())
	}
}

// answers sends three errors, one after the other: the effect of a response on the SDK shows in the
// next errors.
func answers() {
	for range 3 {
		sentry.CaptureException(errors.New("coupon"))
		sentry.Flush(10 * time.Second)
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		panic(err)
	}
}

func main() {
	options := sentry.ClientOptions{
		Release:          "shop@1.0.0",
		EnableTracing:    true,
		TracesSampleRate: 1,
		Transport:        reporting{sentry.NewHTTPTransport()},
	}
	configure(&options, os.Args[1])
	if err := sentry.Init(options); err != nil {
		panic(err)
	}
	if os.Args[1] == "answers" {
		answers()
		return
	}
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		transaction("report", report)
	}()
	transaction("checkout", checkout)
	all.Wait()
	sentry.CaptureException(errors.New("coupon"))
	warn("stock low")
	sentry.Flush(20 * time.Second)
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		panic(err)
	}
}
