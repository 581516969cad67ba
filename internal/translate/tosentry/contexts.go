// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Contexts collects the contexts of an event or a transaction.
type Contexts struct {
	members map[string]pcommon.Map
	names   []string
	plain   []event.NamedValue // that are not objects
}

// NewContexts is the inverse of fromsentry.putContexts. If repeat is set, it adds the machine of
// the resource, and the other resource attributes as a separate context.
func NewContexts(attrs pcommon.Map, resource *Resource, repeat bool) *Contexts {
	c := &Contexts{members: map[string]pcommon.Map{}}
	for key, value := range attrs.All() {
		name, ok := strings.CutPrefix(key, semconv.SentryContextPrefix)
		switch {
		case !ok || name == "" || name == "trace":
		case value.Type() == pcommon.ValueTypeMap:
			value.Map().CopyTo(c.Of(name))
		default:
			c.plain = append(c.plain, event.NamedValue{Name: name, Value: attr.JsonOf(value)})
		}
	}
	if repeat {
		for _, m := range resource.machine {
			m.value.CopyTo(c.Of(m.Context).PutEmpty(m.Name))
		}
	}
	if replay, ok := attrs.Get(semconv.SentryReplayID); ok {
		replay.CopyTo(c.Of("replay").PutEmpty("replay_id"))
	}
	if repeat && resource.other.Len() > 0 {
		resource.other.CopyTo(c.Of("otel").PutEmptyMap("resource"))
	}
	return c
}

// Of returns the members of a context.
func (c *Contexts) Of(name string) pcommon.Map {
	if m, ok := c.members[name]; ok {
		return m
	}
	m := pcommon.NewMap()
	c.members[name] = m
	c.names = append(c.names, name)
	return m
}

// Remove removes a context.
func (c *Contexts) Remove(name string) {
	delete(c.members, name)
	c.names = slices.DeleteFunc(c.names, func(other string) bool { return other == name })
}

// Values returns the contexts and empties them.
func (c *Contexts) Values() []event.NamedValue {
	all := c.plain
	for _, name := range c.names {
		value := pcommon.NewValueMap()
		c.members[name].MoveTo(value.Map())
		all = append(all, event.NamedValue{Name: name, Value: attr.JsonOf(value)})
	}
	return all
}

// machineKeys are the members of contexts that are on the resource, in a fixed order.
var machineKeys = func() []attr.ContextMember {
	keys := []attr.ContextMember{attr.DeviceArch}
	for key := range attr.ResourceContextKeys {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b attr.ContextMember) int {
		return cmp.Or(strings.Compare(a.Context, b.Context), strings.Compare(a.Name, b.Name))
	})
	return keys
}()
