// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Contexts collects the contexts of an event or a transaction: attributes, and members that are in
// other attributes. It is the inverse of fromsentry.putContexts.
type Contexts struct {
	all    []context
	replay pcommon.Value
}

type context struct {
	name    string
	sent    pcommon.Value // pcommon.Value{} = only members
	members []event.NamedValue
	json    []byte // nil = not known
}

// Reset removes all contexts.
func (c *Contexts) Reset() { c.all, c.replay = c.all[:0], pcommon.Value{} }

// Read adds the context that an attribute contains. It reports whether the attribute is a context.
func (c *Contexts) Read(key string, value pcommon.Value) bool {
	if key == semconv.SentryReplayID {
		c.replay = value
		return true
	}
	name, ok := strings.CutPrefix(key, semconv.SentryContextPrefix)
	if ok && name != "" && name != "trace" {
		c.add(context{name: name, sent: value})
	}
	return ok
}

// AddMachine adds the replay and, if repeat is set, the machine of the resource, and the other
// resource attributes as a separate context.
func (c *Contexts) AddMachine(resource *Resource, repeat bool, scratch *attr.Scratch) {
	if repeat {
		for _, m := range resource.machine.all {
			if i := c.index(m.name); i >= 0 {
				c.all[i].members = append(c.all[i].members, m.members...)
			} else {
				c.add(m)
			}
		}
	}
	if c.replay != (pcommon.Value{}) {
		c.Put("replay", "replay_id", scratch.JSON(c.replay))
	}
	if repeat && len(resource.otherJSON) > 0 {
		c.Put("otel", "resource", resource.otherJSON)
	}
}

// add adds a context. It reuses the memory of a context of the last event.
func (c *Contexts) add(added context) {
	n := len(c.all)
	c.all = slices.Grow(c.all, 1)[:n+1]
	added.members = append(c.all[n].members[:0], added.members...)
	c.all[n] = added
}

func (c *Contexts) index(name string) int {
	return slices.IndexFunc(c.all, func(known context) bool { return known.name == name })
}

// Put sets a member of a context.
func (c *Contexts) Put(name, member string, json []byte) {
	i := c.index(name)
	if i < 0 {
		i = len(c.all)
		c.add(context{name: name})
	}
	c.all[i].members, c.all[i].json = append(c.all[i].members, event.NamedValue{Name: member, Value: json}), nil
}

// Remove removes a context.
func (c *Contexts) Remove(name string) {
	if i := c.index(name); i >= 0 {
		c.all = slices.Delete(c.all, i, i+1)
	}
}

// RemoveMember removes a member that Put has set, and its context if nothing else is in it.
func (c *Contexts) RemoveMember(name, member string) {
	i := c.index(name)
	if i < 0 {
		return
	}
	left := &c.all[i]
	left.members = slices.DeleteFunc(left.members, func(m event.NamedValue) bool { return m.Name == member })
	if len(left.members) == 0 && left.sent == (pcommon.Value{}) {
		c.Remove(name)
	}
}

// AppendTo appends the contexts to a list.
func (c *Contexts) AppendTo(list []event.NamedValue, scratch *attr.Scratch) []event.NamedValue {
	for i := range c.all {
		list = append(list, event.NamedValue{Name: c.all[i].name, Value: c.all[i].object(scratch)})
	}
	return list
}

func (c *context) object(scratch *attr.Scratch) []byte {
	switch {
	case c.json != nil:
		return c.json
	case c.sent == (pcommon.Value{}):
		return scratch.Object(pcommon.Map{}, c.members)
	case c.sent.Type() == pcommon.ValueTypeMap && len(c.members) > 0:
		return scratch.Object(c.sent.Map(), c.members)
	}
	// The text of an object with too many members contains also those of other attributes.
	if object := scratch.OfKind(event.KindObject, c.sent); object != nil {
		return object
	}
	if len(c.members) == 0 {
		return scratch.JSON(c.sent)
	}
	return scratch.Object(pcommon.Map{}, c.members)
}
