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
type Contexts struct {
	names   []string
	sent    []pcommon.Value // by name; pcommon.Value{} = only members
	members []member
	same    []event.NamedValue // members of one context
}

type member struct {
	context string
	event.NamedValue
}

// Fill replaces the contexts. It is the inverse of fromsentry.putContexts. If repeat is set, it adds
// the machine of the resource, and the other resource attributes as a separate context.
func (c *Contexts) Fill(attrs pcommon.Map, resource *Resource, repeat bool, scratch *attr.Scratch) {
	c.names, c.sent, c.members = c.names[:0], c.sent[:0], c.members[:0]
	for key, value := range attrs.All() {
		if name, ok := strings.CutPrefix(key, semconv.SentryContextPrefix); ok && name != "" && name != "trace" {
			c.names, c.sent = append(c.names, name), append(c.sent, value)
		}
	}
	if repeat {
		for _, m := range resource.machine {
			c.Put(m.context, m.Name, m.Value)
		}
	}
	if replay, ok := attrs.Get(semconv.SentryReplayID); ok {
		c.Put("replay", "replay_id", scratch.JSON(replay))
	}
	if repeat && len(resource.otherJSON) > 0 {
		c.Put("otel", "resource", resource.otherJSON)
	}
}

// Put sets a member of a context.
func (c *Contexts) Put(context, name string, json []byte) {
	if !slices.Contains(c.names, context) {
		c.names, c.sent = append(c.names, context), append(c.sent, pcommon.Value{})
	}
	c.members = append(c.members, member{context, event.NamedValue{Name: name, Value: json}})
}

// Remove removes a context.
func (c *Contexts) Remove(name string) {
	if i := slices.Index(c.names, name); i >= 0 {
		c.names, c.sent = slices.Delete(c.names, i, i+1), slices.Delete(c.sent, i, i+1)
	}
}

// AppendTo appends the contexts to a list.
func (c *Contexts) AppendTo(list []event.NamedValue, scratch *attr.Scratch) []event.NamedValue {
	for i, name := range c.names {
		list = append(list, event.NamedValue{Name: name, Value: c.json(name, c.sent[i], scratch)})
	}
	return list
}

func (c *Contexts) json(name string, sent pcommon.Value, scratch *attr.Scratch) []byte {
	c.same = c.same[:0]
	for i := range c.members {
		if c.members[i].context == name {
			c.same = append(c.same, c.members[i].NamedValue)
		}
	}
	switch {
	case len(c.same) == 0:
		return scratch.JSON(sent)
	case sent == (pcommon.Value{}) || sent.Type() != pcommon.ValueTypeMap:
		return scratch.Object(pcommon.Map{}, c.same)
	}
	return scratch.Object(sent.Map(), c.same)
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
