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

// Contexts collects the contexts of an event or a transaction: attributes, and members that are in
// other attributes.
type Contexts struct{ all []context }

type context struct {
	name    string
	sent    pcommon.Value // pcommon.Value{} = only members
	members []event.NamedValue
}

type member struct {
	context string
	event.NamedValue
}

// Fill replaces the contexts. It is the inverse of fromsentry.putContexts. If repeat is set, it adds
// the machine of the resource, and the other resource attributes as a separate context.
func (c *Contexts) Fill(attrs pcommon.Map, resource *Resource, repeat bool, scratch *attr.Scratch) {
	c.all = c.all[:0]
	var replay []byte
	for key, value := range attrs.All() {
		if name, ok := strings.CutPrefix(key, semconv.SentryContextPrefix); ok && name != "" && name != "trace" {
			c.add(name, value)
		} else if key == semconv.SentryReplayID {
			replay = scratch.JSON(value)
		}
	}
	if repeat {
		for _, m := range resource.machine {
			c.Put(m.context, m.Name, m.Value)
		}
	}
	if replay != nil {
		c.Put("replay", "replay_id", replay)
	}
	if repeat && len(resource.otherJSON) > 0 {
		c.Put("otel", "resource", resource.otherJSON)
	}
}

// add adds a context. It reuses the memory of a context of the last event.
func (c *Contexts) add(name string, sent pcommon.Value) {
	n := len(c.all)
	c.all = slices.Grow(c.all, 1)[:n+1]
	c.all[n] = context{name, sent, c.all[n].members[:0]}
}

func (c *Contexts) index(name string) int {
	return slices.IndexFunc(c.all, func(known context) bool { return known.name == name })
}

// Put sets a member of a context.
func (c *Contexts) Put(context, name string, json []byte) {
	i := c.index(context)
	if i < 0 {
		i = len(c.all)
		c.add(context, pcommon.Value{})
	}
	c.all[i].members = append(c.all[i].members, event.NamedValue{Name: name, Value: json})
}

// Remove removes a context.
func (c *Contexts) Remove(name string) {
	if i := c.index(name); i >= 0 {
		c.all = slices.Delete(c.all, i, i+1)
	}
}

// AppendTo appends the contexts to a list.
func (c *Contexts) AppendTo(list []event.NamedValue, scratch *attr.Scratch) []event.NamedValue {
	for i := range c.all {
		list = append(list, event.NamedValue{Name: c.all[i].name, Value: c.all[i].json(scratch)})
	}
	return list
}

func (c *context) json(scratch *attr.Scratch) []byte {
	switch {
	case len(c.members) == 0:
		return scratch.JSON(c.sent)
	case c.sent == (pcommon.Value{}) || c.sent.Type() != pcommon.ValueTypeMap:
		return scratch.Object(pcommon.Map{}, c.members)
	}
	return scratch.Object(c.sent.Map(), c.members)
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
