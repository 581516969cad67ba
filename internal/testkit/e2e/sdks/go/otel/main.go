// SPDX-License-Identifier: Apache-2.0

// Command otel fails in several ways under one of two SDKs: otel otel|sentry spans|logs|dup. With
// otlp, it sends spans to the endpoint of a DSN: otlp.go.
//
// An error of Go has no stack: SDKs record the stack where they are called. Here, both are called
// at the same position. Each failure has a message of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/getsentry/sentry-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

type paymentError struct{ text string }

func (e paymentError) Error() string { return e.text }

var (
	useSentry = os.Args[1] == "sentry"
	traces    *sdktrace.TracerProvider // nil for Sentry's SDK
	logs      *sdklog.LoggerProvider
	current   string
)

func pay(context.Context) error { return paymentError{"card declined: " + current} }

func chained(ctx context.Context) error { return fmt.Errorf("order 17: %w", pay(ctx)) }

func nested(ctx context.Context) error {
	return within(ctx, "inner", func(ctx context.Context) error { return within(ctx, "innermost", pay) })
}

func asynchronous(ctx context.Context) error {
	done := make(chan error)
	go func() { done <- within(ctx, "goroutine", pay) }()
	return <-done
}

func library(context.Context) error { return json.Unmarshal([]byte("{"), new(any)) }

func plain(context.Context) error { return errors.New("no stock") }

func callback(ctx context.Context) (err error) {
	strings.Map(func(r rune) rune {
		err = within(ctx, "callback", pay)
		return r
	}, "x")
	return err
}

// recursive has few frames: OpenTelemetry's SDK records 2,048 bytes of a stack.
func recursive(ctx context.Context) error { return recurse(ctx, 3) }

func recurse(ctx context.Context, n int) error {
	if n > 0 {
		return recurse(ctx, n-1)
	}
	return within(ctx, "innermost", pay)
}

type server[T any] struct{ stock T }

func (s *server[T]) handle(ctx context.Context) error { return within(ctx, "handle", pay) }

func generic(ctx context.Context) error { return new(server[int]).handle(ctx) }

// panicked lets each SDK recover the panic. OpenTelemetry's panics again.
func panicked(ctx context.Context) error {
	defer func() { _ = recover() }()
	if useSentry {
		defer sentry.Recover()
	} else {
		_, span := traces.Tracer("failures").Start(ctx, "panicking")
		defer span.End(trace.WithStackTrace(true))
	}
	panic(paymentError{"card declined: " + current})
}

var sent error // the last error that Sentry's SDK has captured: applications capture an error once

// within runs a function in a span. Each span records the error that leaves it.
func within(ctx context.Context, name string, work func(context.Context) error) error {
	span := trace.SpanFromContext(ctx)
	if !useSentry {
		ctx, span = traces.Tracer("failures").Start(ctx, name)
	}
	defer span.End()
	err := work(ctx)
	if err != nil && (!useSentry || err != sent) {
		report(span, err)
		span.SetStatus(codes.Error, err.Error())
		sent = err
	}
	return err
}

func observe(name string, work func(context.Context) error) {
	current = name
	ctx := context.Background()
	if traces != nil {
		var span trace.Span
		ctx, span = traces.Tracer("failures").Start(ctx, "request")
		defer span.End()
	}
	if err := within(ctx, name, work); err != nil && logs != nil {
		var record log.Record
		record.SetTimestamp(time.Now())
		record.SetSeverity(log.SeverityError)
		record.SetBody(attribute.StringValue("failed"))
		record.SetErr(err)
		logs.Logger("failures").Emit(ctx, record)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func start(ctx context.Context) {
	if useSentry {
		check(sentry.Init(sentry.ClientOptions{Dsn: os.Getenv("SENTRY_DSN")}))
		return
	}
	attributes := sdktrace.WithResource(resource.Default())
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(os.Getenv("OTLP")+"/v1/traces"))
	check(err)
	traces = sdktrace.NewTracerProvider(attributes, sdktrace.WithBatcher(exporter))
	if os.Args[2] == "spans" {
		return
	}
	records, err := otlploghttp.New(ctx, otlploghttp.WithEndpointURL(os.Getenv("OTLP")+"/v1/logs"))
	check(err)
	logs = sdklog.NewLoggerProvider(sdklog.WithResource(resource.Default()), sdklog.WithProcessor(sdklog.NewBatchProcessor(records)))
}

func stop(ctx context.Context) {
	if useSentry {
		sentry.Flush(20 * time.Second)
		return
	}
	if logs != nil { // log records arrive before their spans, as in applications that run for longer
		check(logs.Shutdown(ctx))
	}
	check(traces.Shutdown(ctx))
}

func main() {
	if os.Args[1] == "otlp" {
		if err := otlp(os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	ctx := context.Background()
	start(ctx)
	cases := []struct {
		name string
		work func(context.Context) error
	}{
		{"pay", pay}, {"chained", chained}, {"nested", nested}, {"asynchronous", asynchronous}, {"library", library}, {"plain", plain},
		{"callback", callback}, {"recursive", recursive}, {"generic", generic}, {"panicked", panicked},
	}
	for _, c := range cases {
		observe(c.name, c.work)
	}
	stop(ctx)
	fmt.Println(len(cases))
}

// report calls the SDK. The line directives give both calls the same position.
func report(span trace.Span, err error) {
	if useSentry {
//line main.go:1000
		sentry.CaptureException(err)
	} else if os.Args[2] != "logs" {
//line main.go:1000
		span.RecordError(err, trace.WithStackTrace(true))
	}
}
