module example.com/topfunctions

go 1.26.0

require (
	github.com/otelcol-sentry/otelcol-sentry v0.1.0
	go.opentelemetry.io/collector/component v1.71.0
	go.opentelemetry.io/collector/exporter v1.71.0
	go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper v0.165.0
	go.opentelemetry.io/collector/exporter/xexporter v0.165.0
	go.opentelemetry.io/collector/pdata/pprofile v0.165.0
	go.uber.org/zap v1.28.0
)
