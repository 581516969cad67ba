// SPDX-License-Identifier: Apache-2.0

// Package spanname names spans so that users can tell them apart.
//
// Many SDKs name spans by a method, a system or a verb alone: JavaScript 11 names every server span
// "GET". Others put identifiers into the name, so that each call has a name of its own. The name is
// then derived from attributes, as the semantic conventions define it. Other names are kept:
// somebody chose them.
package spanname

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// A rule is a convention: {verb} {target}. The first rule that a span has an attribute of decides.
type rule struct {
	convention string
	of         []string // attributes of spans of the convention
	whole      []string // attributes that are complete names
	verb       []string // attributes, the first that is set is used; likewise below
	target     func(ptrace.Span) string
	// generic are attributes and words that say nothing about a single operation, in addition to
	// the verb. A name of only such words is replaced.
	generic []string
	words   string
	// raw are attributes with values of a single call. A name that contains one is replaced.
	raw []string
	url bool // a name with a URL is replaced, too
}

// rules are in this order because a queue or a database may be called by RPC or HTTP.
var rules = []rule{
	{
		convention: "https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/#span-name",
		of:         []string{semconv.MessagingSystem, semconv.MessagingSystemName, semconv.MessagingDestinationName},
		verb:       []string{semconv.MessagingOperationName, semconv.MessagingOperation},
		target:     first(semconv.MessagingDestinationTemplate, semconv.MessagingDestinationName, semconv.MessagingDestination),
		generic:    []string{semconv.MessagingSystem, semconv.MessagingSystemName},
		words:      "message publish send receive process create settle consume queue task poll",
	},
	{
		convention: "https://opentelemetry.io/docs/specs/semconv/db/database-spans/#name",
		of:         []string{semconv.DBSystemName, semconv.DBSystem},
		whole:      []string{semconv.DBQuerySummary},
		verb:       []string{semconv.DBOperationName, semconv.DBOperation},
		target:     databaseTarget,
		generic:    []string{semconv.DBSystemName, semconv.DBSystem, semconv.DBNamespace, semconv.DBName},
		words:      "db database query sql execute select insert update delete",
		raw:        []string{semconv.DBQueryText, semconv.DBStatement},
	},
	{
		convention: "https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/#span-name",
		of:         []string{semconv.RPCSystemName, semconv.RPCSystem},
		target:     rpcTarget,
		generic:    []string{semconv.RPCSystemName, semconv.RPCSystem, semconv.RPCMethod, semconv.RPCService},
		words:      "rpc grpc call request client server",
	},
	{
		convention: "https://opentelemetry.io/docs/specs/semconv/http/http-spans/#name",
		of:         []string{semconv.HTTPRequestMethod, semconv.HTTPMethod},
		verb:       []string{semconv.HTTPRequestMethod, semconv.HTTPMethod},
		target:     httpTarget,
		words:      "http request client server https fetch",
		raw:        []string{semconv.URLFull, semconv.HTTPURL, semconv.URLPath, semconv.HTTPTarget},
		url:        true,
	},
}

// schemeEnd is in absolute URLs only.
const schemeEnd = "://"

// Of returns the display name of a span.
func Of(span ptrace.Span) string {
	attributes := span.Attributes()
	for i := range rules {
		if r := &rules[i]; text(attributes, r.of) != "" {
			return r.name(span)
		}
	}
	return span.Name()
}

func (r *rule) name(span ptrace.Span) string {
	attributes := span.Attributes()
	if whole := text(attributes, r.whole); whole != "" {
		return whole
	}
	verb, target := text(attributes, r.verb), r.target(span)
	if target == "" || !r.replaces(span.Name(), attributes) {
		return span.Name()
	}
	return strings.TrimSpace(verb + " " + target)
}

// replaces reports whether a name is worse than one of the rule.
func (r *rule) replaces(name string, attributes pcommon.Map) bool {
	if r.url && strings.Contains(name, schemeEnd) {
		return true
	}
	for _, key := range r.raw {
		// The path / is in many names.
		if raw := text(attributes, []string{key}); len(raw) > 1 && strings.Contains(name, raw) {
			return true
		}
	}
	generic := wordsOf(r.words)
	for _, key := range slices.Concat(r.verb, r.generic) {
		generic = append(generic, wordsOf(text(attributes, []string{key}))...)
	}
	words := wordsOf(name)
	return len(words) <= maxWords && !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(generic, word) })
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return c == ' ' || c == '.' || c == '/' })
}

// text returns the first attribute that is a text, or "".
func text(attributes pcommon.Map, keys []string) string {
	for _, key := range keys {
		if value, ok := attributes.Get(key); ok && value.Type() == pcommon.ValueTypeStr && value.Str() != "" {
			return value.Str()
		}
	}
	return ""
}

func first(keys ...string) func(ptrace.Span) string {
	return func(span ptrace.Span) string { return text(span.Attributes(), keys) }
}

// databaseTarget returns the table, or the part of a statement that names it.
func databaseTarget(span ptrace.Span) string {
	attributes := span.Attributes()
	verb := text(attributes, []string{semconv.DBOperationName, semconv.DBOperation})
	statement := text(attributes, []string{semconv.DBQueryText, semconv.DBStatement})
	if verb == "" && statement != "" {
		return summary(statement)
	}
	if table := text(attributes, []string{semconv.DBCollectionName, semconv.DBSQLTable}); table != "" {
		return table
	}
	if table := tableOf(statement); table != "" {
		return table
	}
	return text(attributes, []string{semconv.DBNamespace, semconv.DBName})
}

// rpcTarget returns the service and the method. Since version 1.39 of the conventions, the method
// is both.
func rpcTarget(span ptrace.Span) string {
	service, method := text(span.Attributes(), []string{semconv.RPCService}), text(span.Attributes(), []string{semconv.RPCMethod})
	if service == "" || method == "" || strings.Contains(method, "/") {
		return method
	}
	return service + "/" + method
}

// httpTarget returns the route, or else the path without identifiers. A client calls several hosts.
func httpTarget(span ptrace.Span) string {
	attributes := span.Attributes()
	if route := text(attributes, []string{semconv.HTTPRoute, semconv.URLTemplate}); route != "" {
		return route
	}
	url := text(attributes, []string{semconv.URLFull, semconv.HTTPURL})
	if _, named, _ := strings.Cut(span.Name(), " "); url == "" && strings.Contains(named, schemeEnd) { // Sentry's Node.js SDKs
		url = named
	}
	host, path := splitURL(url)
	if given := text(attributes, []string{semconv.URLPath, semconv.HTTPTarget}); given != "" {
		_, path = splitURL(given)
	}
	if span.Kind() == ptrace.SpanKindServer {
		host = ""
	} else if host == "" {
		host = text(attributes, []string{semconv.ServerAddress})
	}
	return host + withoutIDs(path)
}
