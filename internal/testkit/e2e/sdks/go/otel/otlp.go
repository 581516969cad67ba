// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/getsentry/sentry-go"
	sentryotel "github.com/getsentry/sentry-go/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// otlp sends spans to the endpoint of the DSN, as sentryotlp.NewTraceExporter does, whose module
// the proxy does not serve, and links events and logs to them by Sentry's integration.
func otlp(version string) error {
	dsn, err := url.Parse(os.Getenv("SENTRY_DSN"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL("http://"+dsn.Host+"/api"+dsn.Path+"/integration/otlp/v1/traces/"),
		otlptracehttp.WithHeaders(map[string]string{"x-sentry-auth": "Sentry sentry_key=" + dsn.User.Username() + ", sentry_version=7, sentry_client=sentry.go/" + sentry.SDKVersion}))
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "shop"))))
	err = sentry.Init(sentry.ClientOptions{Dsn: dsn.String(), Release: "shop@1.0.0",
		Integrations: func(all []sentry.Integration) []sentry.Integration {
			return append(all, sentryotel.NewOtelIntegration())
		}})
	if err != nil {
		return err
	}
	said := map[string]any{"version": version}
	var spans []string
	note := func(span trace.Span) {
		spans = append(spans, span.SpanContext().TraceID().String()+"/"+span.SpanContext().SpanID().String())
		span.End()
	}
	tracer := provider.Tracer("shop")
	ctx, checkout := tracer.Start(ctx, "checkout")
	_, price := tracer.Start(ctx, "price")
	note(price)
	hub := sentry.CurrentHub()
	if id := hub.Client().CaptureException(errors.New("coupon"), &sentry.EventHint{Context: ctx}, hub.Scope()); id != nil {
		said["errors"] = []string{string(*id)}
	}
	sentry.NewLogger(ctx).Warn().Emit("stock low")
	said["logs"] = []string{"stock low"}
	note(checkout)
	said["spans"] = spans
	if err := provider.Shutdown(ctx); err != nil {
		return err
	}
	sentry.Flush(20 * time.Second)
	text, err := json.Marshal(said)
	fmt.Println(string(text))
	return err
}
