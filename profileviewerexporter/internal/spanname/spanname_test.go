// SPDX-License-Identifier: Apache-2.0

package spanname

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	server = ptrace.SpanKindServer
	call   = ptrace.SpanKindClient
)

// TestOf has the names that SDKs send, with their attributes.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		about      string
		kind       ptrace.SpanKind
		name       string
		attributes string // key=value, separated by |
		want       string
	}{
		{"JavaScript 11, Express", server, "GET", "http.request.method=GET|http.route=/orders/:id|url.path=/orders/42", "GET /orders/:id"},
		{"JavaScript 11, no framework", server, "GET", "http.request.method=GET|url.path=/orders/42/items", "GET /orders/{id}/items"},
		{"deprecated keys", server, "HTTP GET", "http.method=GET|http.target=/a/1?x=2", "GET /a/{id}"},
		{"Python, Flask 0.40", server, "GET /orders/<int:id>", "http.method=GET|http.route=/orders/<int:id>|http.target=/orders/42", "GET /orders/<int:id>"},
		{"raw path in the name", server, "GET /orders/42", "http.request.method=GET|url.path=/orders/42|http.route=/orders/{id}", "GET /orders/{id}"},
		{"the root", server, "GET", "http.request.method=GET|url.path=/", "GET /"},
		{"chosen by the user", server, "checkout", "http.request.method=POST|url.path=/checkout/9", "checkout"},
		{"method only", server, "POST", "http.request.method=POST", "POST"},
		{"client", call, "GET", "http.request.method=GET|url.full=https://u:p@api.example.com/users/0194f7ae-7a3b-7c2d-8e5f-000000000001?q=1", "GET api.example.com/users/{id}"},
		{"Sentry's client", call, "GET https://api.example.com/users/7", "http.request.method=GET|url.full=https://api.example.com/users/7", "GET api.example.com/users/{id}"},
		{"Sentry's Node.js", call, "POST http://127.0.0.1:8080/orders/7?x=1", "http.method=POST", "POST 127.0.0.1:8080/orders/{id}"},
		{"client with a template", call, "GET", "http.request.method=GET|url.template=/users/{id}|url.full=https://a/users/1", "GET /users/{id}"},
		{"client, host only", call, "HTTP GET", "http.request.method=GET|server.address=api.example.com", "GET api.example.com"},
		{"summary", call, "shop", "db.system.name=postgresql|db.query.summary=SELECT orders", "SELECT orders"},
		{"operation and table", call, "postgresql", "db.system=postgresql|db.operation=SELECT|db.sql.table=orders", "SELECT orders"},
		{"operation, statement", call, "SELECT", "db.system=mysql|db.operation=SELECT|db.statement=SELECT * FROM `orders` WHERE id = 1", "SELECT orders"},
		{"operation and database", call, "SELECT shop", "db.system=mysql|db.operation=SELECT|db.name=shop", "SELECT shop"},
		{"statement as the name", call, "insert into logs(a) values (1)", "db.system=sqlite|db.statement=insert into logs(a) values (1)", "INSERT logs"},
		{"statement without a table", call, "BEGIN", "db.system=sqlite|db.statement=BEGIN", "BEGIN"},
		{"no statement", call, "query orders", "db.system=sqlite", "query orders"},
		{"Redis", call, "redis", "db.system=redis|db.statement=GET user:1", "GET"},
		{"queue", ptrace.SpanKindProducer, "publish", "messaging.system=kafka|messaging.operation.name=publish|messaging.destination.name=orders", "publish orders"},
		{"queue by RPC", ptrace.SpanKindConsumer, "SQS.ReceiveMessage", "messaging.system=aws_sqs|rpc.system=aws-api|messaging.operation=receive|messaging.destination.name=orders", "SQS.ReceiveMessage"},
		{"template of a queue", ptrace.SpanKindConsumer, "process", "messaging.system=mqtt|messaging.operation.name=process|messaging.destination.template=/cust/{id}|messaging.destination.name=/cust/7", "process /cust/{id}"},
		{"RPC", server, "grpc", "rpc.system=grpc|rpc.service=shop.Cart|rpc.method=Add", "shop.Cart/Add"},
		{"RPC, full method", call, "Add", "rpc.system.name=grpc|rpc.method=shop.Cart/Add", "shop.Cart/Add"},
		{"RPC, named", call, "shop.Cart/Add", "rpc.system=grpc|rpc.service=shop.Cart|rpc.method=Add", "shop.Cart/Add"},
		{"no convention", ptrace.SpanKindInternal, "GET", "", "GET"},
		{"empty", server, "", "http.request.method=GET|url.path=/a", "GET /a"},
	} {
		span := ptrace.NewSpan()
		span.SetName(c.name)
		span.SetKind(c.kind)
		for _, pair := range strings.Split(c.attributes, "|") {
			if key, value, ok := strings.Cut(pair, "="); ok {
				span.Attributes().PutStr(key, value)
			}
		}
		assert.Equal(t, c.want, Of(span), c.about)
	}
}

func TestIsID(t *testing.T) {
	for _, id := range []string{"1", "007", "0194f7ae-7a3b-7c2d-8e5f-000000000001", "deadbeef1", "a@example.com", "eyJhbGciOiJIUzI1NiIsInR5"} {
		assert.True(t, isID(id), id)
	}
	for _, name := range []string{"", "v2", "orders", "oauth2", "{id}", "feedback", "jquery-3.7.1.slim.min.js", ":id", "2fa-setup"} {
		assert.False(t, isID(name), name)
	}
}

// TestRules: each rule names its convention, and has a target.
func TestRules(t *testing.T) {
	for _, r := range rules {
		assert.Contains(t, r.convention, "https://opentelemetry.io/docs/specs/semconv/")
		assert.NotNil(t, r.target, r.convention)
	}
}

// TestManyWords: a name of more words than the comparison may visit is kept.
func TestManyWords(t *testing.T) {
	for words, want := range map[int]string{maxWords: "GET /orders", maxWords + 1: strings.Repeat("GET ", maxWords+1)} {
		span := ptrace.NewSpan()
		span.SetName(strings.Repeat("GET ", words))
		span.Attributes().PutStr("http.request.method", "GET")
		span.Attributes().PutStr("http.route", "/orders")
		assert.Equal(t, want, Of(span))
	}
}

// TestLongPath: the name of a span is limited, however long its path is.
func TestLongPath(t *testing.T) {
	assert.Equal(t, strings.Repeat("/a", maxSegments-1)+"/…", withoutIDs(strings.Repeat("/a", 10_000)))
	_, path := splitURL("/" + strings.Repeat("x", 10_000))
	assert.Len(t, path, maxRead)
}
