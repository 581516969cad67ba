// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ledger counts items by outcome and sender.
//
// Clients choose projects, SDKs and versions, so the number of series is limited: after maxSeries,
// items of new senders count as "other".
type ledger struct {
	counter metric.Int64Counter

	mu    sync.Mutex
	known map[entry]metric.MeasurementOption
}

// maxSeries is half of the limit of OpenTelemetry's SDK (2000), which would combine all attributes
// of further series. A sender has two to five series: its types, nearly all accepted.
const maxSeries = 1000

// entry is the attributes of an item. All except the sender have a bounded number of values.
type entry struct {
	item    string
	outcome pipeline.Outcome
	reason  string // "" = none
	sender
}

// sender is the sender of an item.
type sender struct {
	project string // its number
	sdk     string // sentry.javascript.browser
	version string // of the SDK, 10.78
}

const (
	other   = "other"   // a value that is not told apart
	unknown = "unknown" // nothing was said
)

var otherSender = sender{other, other, other}

func (l *ledger) count(ctx context.Context, e entry) {
	l.counter.Add(ctx, 1, l.series(e))
}

func (l *ledger) series(e entry) metric.MeasurementOption {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[e]; !known && len(l.known) >= maxSeries {
		e.sender = otherSender
	}
	option, known := l.known[e]
	if !known {
		if l.known == nil {
			l.known = map[entry]metric.MeasurementOption{}
		}
		option = metric.WithAttributeSet(attribute.NewSet(e.attributes()...))
		l.known[e] = option
	}
	return option
}

func (e entry) attributes() []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("type", e.item),
		attribute.String("outcome", string(e.outcome)),
		attribute.String("project", e.project),
		attribute.String("sdk", e.sdk),
		attribute.String("sdk_version", e.version),
	}
	if e.reason != "" {
		attributes = append(attributes, attribute.String("reason", e.reason))
	}
	return attributes
}

// newSender returns a sender. The project is a number or "".
func newSender(project string, sdk sentry.ClientSDK) sender {
	if project == "" {
		project = unknown
	}
	return sender{project, sdkLabel(sdk.Name), versionLabel(sdk.Version)}
}

// sdkFamilies are the second parts of the names of Sentry's SDKs. The third part is a framework:
// sentry.php.laravel.
var sdkFamilies = map[string]bool{
	"browser": true, "cocoa": true, "cordova": true, "dart": true, "dotnet": true, "elixir": true, "go": true, "godot": true,
	"java": true, "javascript": true, "kotlin": true, "native": true, "perl": true, "php": true, "python": true, "relay": true,
	"ruby": true, "rust": true, "unity": true, "unreal": true,
}

// maxLabel is longer than any name of an SDK: sentry.java.spring-boot.jakarta has 31 bytes.
const maxLabel = 48

// sdkLabel returns the name of an SDK of Sentry, or of its predecessor raven; else "other".
func sdkLabel(name string) string {
	name = strings.ToLower(name)
	if name == "" {
		return unknown
	}
	family, framework, _ := strings.Cut(strings.TrimPrefix(name, "sentry."), ".")
	ours := strings.HasPrefix(name, "sentry.") && (sdkFamilies[family] || sdkFamilies[prefixBefore(family, "-")])
	if raven := strings.HasPrefix(name, "raven-"); !ours && !raven || len(name) > maxLabel || !isLabel(family) || !isLabel(framework) {
		return other
	}
	return name
}

func prefixBefore(text, separator string) string {
	prefix, _, _ := strings.Cut(text, separator)
	return prefix
}

func isLabel(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// versionLabel returns major and minor version: patch versions would triple the series and rarely
// explain a loss.
func versionLabel(version string) string {
	if version == "" {
		return unknown
	}
	major, rest, _ := strings.Cut(version, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if !isShortNumber(major) || !isShortNumber(minor) {
		return other
	}
	return major + "." + minor
}

// isShortNumber reports whether a text is a number of up to four digits, enough for the years in
// the versions of Unreal.
func isShortNumber(text string) bool {
	return text != "" && len(text) <= 4 && strings.Trim(text, "0123456789") == ""
}
