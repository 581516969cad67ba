// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// origin is a resource and a scope.
type origin struct{ resource, resourceSchema, scope, version, scopeSchema, attribute string }

func randomOrigin(random *rand.Rand) origin {
	text := func() string { return [...]string{"", "a"}[random.IntN(8)/7] } // most are equal
	return origin{text(), text(), text(), text(), text(), text()}
}

func (o origin) fill(resource pcommon.Resource, scope pcommon.InstrumentationScope) {
	resource.Attributes().PutStr("service.name", o.resource)
	scope.SetName(o.scope)
	scope.SetVersion(o.version)
	scope.Attributes().PutStr("attribute", o.attribute)
}

func originOf(resource pcommon.Resource, resourceSchema string, scope pcommon.InstrumentationScope, scopeSchema string) origin {
	service, _ := resource.Attributes().Get("service.name")
	attribute, _ := scope.Attributes().Get("attribute")
	return origin{service.Str(), resourceSchema, scope.Name(), scope.Version(), scopeSchema, attribute.Str()}
}

// content is a message in words: what is in it by origin, in order.
type content struct {
	origins   []origin // each time that one begins
	resources int
	elements  []string // with their origin
}

func (c *content) add(o origin, elements int, name func(int) string) {
	c.origins = append(c.origins, o)
	for i := range elements {
		c.elements = append(c.elements, fmt.Sprint(o, name(i)))
	}
}

// signals make a message of one origin with the elements of these names, and read one.
var signals = []struct {
	make func(o origin, names ...string) Message
	read func(Message) content
}{
	{func(o origin, names ...string) Message {
		data := ptrace.NewTraces()
		resource := data.ResourceSpans().AppendEmpty()
		scope := resource.ScopeSpans().AppendEmpty()
		o.fill(resource.Resource(), scope.Scope())
		resource.SetSchemaUrl(o.resourceSchema)
		scope.SetSchemaUrl(o.scopeSchema)
		for _, name := range names {
			scope.Spans().AppendEmpty().SetName(name)
		}
		return Traces(data)
	}, func(m Message) (c content) {
		for _, r := range m.data.(ptrace.Traces).ResourceSpans().All() {
			c.resources++
			for _, s := range r.ScopeSpans().All() {
				c.add(originOf(r.Resource(), r.SchemaUrl(), s.Scope(), s.SchemaUrl()), s.Spans().Len(), func(i int) string { return s.Spans().At(i).Name() })
			}
		}
		return c
	}},
	{func(o origin, names ...string) Message {
		data := plog.NewLogs()
		resource := data.ResourceLogs().AppendEmpty()
		scope := resource.ScopeLogs().AppendEmpty()
		o.fill(resource.Resource(), scope.Scope())
		resource.SetSchemaUrl(o.resourceSchema)
		scope.SetSchemaUrl(o.scopeSchema)
		for _, name := range names {
			scope.LogRecords().AppendEmpty().SetEventName(name)
		}
		return Logs(data)
	}, func(m Message) (c content) {
		for _, r := range m.data.(plog.Logs).ResourceLogs().All() {
			c.resources++
			for _, s := range r.ScopeLogs().All() {
				c.add(originOf(r.Resource(), r.SchemaUrl(), s.Scope(), s.SchemaUrl()), s.LogRecords().Len(), func(i int) string { return s.LogRecords().At(i).EventName() })
			}
		}
		return c
	}},
	{func(o origin, names ...string) Message {
		data := pmetric.NewMetrics()
		resource := data.ResourceMetrics().AppendEmpty()
		scope := resource.ScopeMetrics().AppendEmpty()
		o.fill(resource.Resource(), scope.Scope())
		resource.SetSchemaUrl(o.resourceSchema)
		scope.SetSchemaUrl(o.scopeSchema)
		for _, name := range names {
			scope.Metrics().AppendEmpty().SetName(name)
		}
		return Metrics(data)
	}, func(m Message) (c content) {
		for _, r := range m.data.(pmetric.Metrics).ResourceMetrics().All() {
			c.resources++
			for _, s := range r.ScopeMetrics().All() {
				c.add(originOf(r.Resource(), r.SchemaUrl(), s.Scope(), s.SchemaUrl()), s.Metrics().Len(), func(i int) string { return s.Metrics().At(i).Name() })
			}
		}
		return c
	}},
}

// TestAppend appends random messages: everything is there, in order and with its resource and
// scope, and no resource and no scope follows an equal one.
func TestAppend(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, signal := range signals {
		for range 300 {
			var want content
			var joined Message
			sum := 0
			for i := range 1 + random.IntN(8) {
				o := randomOrigin(random)
				var names []string
				for j := range random.IntN(3) {
					names = append(names, fmt.Sprint(i, "/", j))
				}
				next := signal.make(o, names...)
				sum += next.Size()
				want.add(o, len(names), func(j int) string { return names[j] })
				if i == 0 {
					joined = next
				} else {
					joined.Append(next)
				}
			}
			got := signal.read(joined)
			assert.Equal(t, want.elements, got.elements)
			assert.Equal(t, slices.Compact(slices.Clone(want.origins)), got.origins)
			resources := slices.CompactFunc(want.origins, func(a, b origin) bool {
				return a.resource == b.resource && a.resourceSchema == b.resourceSchema
			})
			assert.Equal(t, len(resources), got.resources)
			assert.LessOrEqual(t, joined.Size(), sum+8*len(want.elements)+16, "longer lengths only")
		}
	}
}
