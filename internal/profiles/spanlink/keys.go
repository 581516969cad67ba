// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Keys names the attributes that identify the track of a span or sample. They are read from the
// span, or from the sample and its profile, then from scope and resource; the innermost value wins.
type Keys struct {
	// Tenant subdivides an authenticated tenant, for example by the projects of a gateway. The
	// first attribute that is present is used. It is read from the resource only: receivers
	// overwrite resource attributes, but not those of spans and samples, which clients set.
	Tenant []string
	// Session is a run of a profiler, or a process. Each element is one way to identify it: a list
	// of attributes that must all be present. Spans are indexed in every way that applies; profiles
	// use the first way that has spans.
	Session [][]string
	// Thread is compared as text: 7 and "7" are equal.
	Thread string
	// Segment is the ID of the span's segment, in hex.
	Segment string

	// ThreadName and MainThread match the main thread by name if spans and profiles state different
	// IDs for it. A span is on the main thread if ThreadName is "main"; MainThread contains the ID
	// of a profile's main thread.
	ThreadName, MainThread string

	// Program is another way to identify a session, for streamed spans that state no session:
	// resource attributes that together identify a program. Such a span is a candidate if only one
	// session of its program has profiles.
	Program []string
	// Streamed is "stream" on spans that were sent individually instead of in a transaction.
	Streamed string
}

// The presets.
var (
	// Sentry reads the profiler session that SDKs state for continuous profiling. Node spans have
	// no session if the versions of @sentry/node and @sentry/profiling-node differ, because the
	// packages then do not share a global scope.
	Sentry = Keys{
		Tenant:  []string{semconv.SentryProjectID},
		Session: [][]string{{semconv.SentryProfilerID}},
		Thread:  semconv.ThreadID,
		Segment: semconv.SentrySegmentID,
		// Some Android SDKs state Java thread IDs on spans, but traces contain kernel thread IDs.
		ThreadName: semconv.ThreadName, MainThread: semconv.SentryActiveThreadID,

		Program:  []string{semconv.ServiceName, semconv.TelemetrySDKName, semconv.TelemetrySDKVersion},
		Streamed: semconv.SentryTraceLifecycle,
	}
	// OTel identifies the process by the semantic conventions. A profiler outside the process does
	// not know its service.instance.id. Processes in the containers of a host all have PID 1, and
	// the same host name if a collector on the host adds it.
	OTel = Keys{
		Session: [][]string{
			{semconv.ServiceInstanceID},
			{semconv.ContainerID, semconv.ProcessPID},
			{semconv.HostName, semconv.ProcessPID},
		},
		Thread: semconv.ThreadID,
	}
)

const (
	// maxKeys is the maximum number of distinct attributes; their values fit into a comparable
	// array. The presets have up to six.
	maxKeys = 11
	// maxSessionParts is the maximum number of attributes that identify a session, for example
	// namespace, host and process.
	maxSessionParts = 3
	// maxText bounds the client texts in the index. IDs have 36 bytes, host names up to 255.
	maxText = 256
	// streamed is the value of Keys.Streamed.
	streamed = "stream"
	// mainThread is the value of Keys.ThreadName.
	mainThread = "main"
)

// Validate returns an error that names the invalid key.
func (k *Keys) Validate() error {
	if len(k.Session) == 0 {
		return fmt.Errorf("session: must name at least one attribute")
	}
	for i, way := range k.Session {
		if len(way) == 0 || len(way) > maxSessionParts {
			return fmt.Errorf("session[%d]: has %d attributes, must have 1 to %d", i, len(way), maxSessionParts)
		}
	}
	if len(k.Program) > maxSessionParts {
		return fmt.Errorf("program: has %d attributes, must have at most %d", len(k.Program), maxSessionParts)
	}
	if k.Thread == "" {
		return fmt.Errorf("thread: must name an attribute")
	}
	c := compile(*k)
	if total := len(c.names) + len(c.tenant); total > maxKeys {
		return fmt.Errorf("%d attributes in total, must be at most %d", total, maxKeys)
	}
	if slices.Contains(c.names, "") || slices.Contains(c.tenant, "") {
		return fmt.Errorf("names of attributes must not be empty")
	}
	return nil
}

// Tenant is the user that data belongs to. Data of different tenants is never combined.
type Tenant struct {
	// Authenticated comes from the credentials of the sender; "" for senders without credentials.
	Authenticated string
	// Stated is the value of the attribute of Keys.Tenant. Data can state any value, so it only
	// subdivides the authenticated tenant.
	Stated string
}

// Session identifies a session. It is comparable and exact.
type Session struct {
	Tenant Tenant
	Way    int // index in Keys.Session, or programWay
	Parts  [maxSessionParts]string
}

// textSize returns the length of the texts of a session, without the tenant name, which its
// sessions share.
func (s *Session) textSize() (size int64) {
	for _, part := range s.Parts {
		size += int64(len(part))
	}
	return size
}

// cloneFor returns a copy of the session with its own texts. Texts of a message may share one
// allocation, which would otherwise stay in memory.
func (s Session) cloneFor(t Tenant) Session {
	s.Tenant = t
	for i := range s.Parts {
		s.Parts[i] = strings.Clone(s.Parts[i])
	}
	return s
}

// programWay marks the session of a program's unstated spans, see Keys.Program.
const programWay = -1

// slot is the position of an attribute name in compiledKeys.
type slot = int8

const noSlot slot = -1

// values are the attribute values found, by slot; "" is none.
type values [maxKeys]string

// compiledKeys are Keys with slots instead of names.
type compiledKeys struct {
	names           []string
	tenant          []string
	session         [][]slot
	thread, segment slot
	threadName      slot
	mainThread      slot // Keys.MainThread
	program         []string
	streamed        string
}

func compile(k Keys) (c compiledKeys) {
	number := func(name string) slot {
		i := slices.Index(c.names, name)
		if i < 0 {
			i = len(c.names)
			c.names = append(c.names, name)
		}
		return slot(i)
	}
	for _, way := range k.Session {
		var slots []slot
		for _, name := range way {
			slots = append(slots, number(name))
		}
		c.session = append(c.session, slots)
	}
	optional := func(name string) slot {
		if name == "" {
			return noSlot
		}
		return number(name)
	}
	c.thread, c.segment = number(k.Thread), optional(k.Segment)
	c.threadName, c.mainThread = optional(k.ThreadName), optional(k.MainThread)
	c.tenant, c.program, c.streamed = k.Tenant, k.Program, k.Streamed
	return c
}

func (c *compiledKeys) slotOf(name string) slot { return slot(slices.Index(c.names, name)) }

// read overwrites values with the values of attributes.
func (c *compiledKeys) read(attributes pcommon.Map, v *values) {
	for name, value := range attributes.All() {
		if s := c.slotOf(name); s != noSlot {
			if text := valueText(value); text != "" {
				v[s] = text
			}
		}
	}
}

// valueText returns a value as text for comparison, or "" if it is empty, too long, or neither
// string nor int.
func valueText(value pcommon.Value) string {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		if text := value.Str(); len(text) <= maxText {
			return text
		}
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(value.Int(), 10)
	}
	return ""
}

// StatedTenant returns the tenant that a resource states, or "".
func (k *Keys) StatedTenant(resource pcommon.Map) string { return statedTenant(k.Tenant, resource) }

func statedTenant(keys []string, resource pcommon.Map) string {
	for _, key := range keys {
		if value, ok := resource.Get(key); ok {
			if text := valueText(value); text != "" {
				return text
			}
		}
	}
	return ""
}

// origin is what the resource and the scope of a record state.
type origin struct {
	values
	tenant  Tenant
	program *Session // see Keys.Program; nil if not stated
}

// resource returns the origin of the records of a resource.
func (c *compiledKeys) resource(authenticated string, attributes pcommon.Map) (of origin) {
	c.read(attributes, &of.values)
	of.tenant = Tenant{authenticated, statedTenant(c.tenant, attributes)}
	of.program = c.programOf(attributes, of.tenant)
	return of
}

// sessions appends the session once for each way to identify it that applies, in the order of
// Keys.Session.
func (c *compiledKeys) sessions(tenant Tenant, v *values, list []Session) []Session {
ways:
	for way, slots := range c.session {
		session := Session{Tenant: tenant, Way: way}
		for i, s := range slots {
			if v[s] == "" {
				continue ways
			}
			session.Parts[i] = v[s]
		}
		list = append(list, session)
	}
	return list
}

// programOf returns the session for the unstated spans of a program, or nil.
func (c *compiledKeys) programOf(resource pcommon.Map, tenant Tenant) *Session {
	if len(c.program) == 0 {
		return nil
	}
	var parts [maxSessionParts]string
	for i, key := range c.program {
		value, ok := resource.Get(key)
		if ok {
			parts[i] = valueText(value)
		}
		if parts[i] == "" {
			return nil
		}
	}
	return &Session{Tenant: tenant, Way: programWay, Parts: parts}
}
