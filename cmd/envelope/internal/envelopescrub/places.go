// SPDX-License-Identifier: Apache-2.0

package envelopescrub

import (
	"regexp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

var (
	// kept are members that identify code.
	kept = setOf("sdk", "client_sdk", "modules", "release", "dist", "environment", "platform", "level", "type", "version")

	// personal are members, at any depth, that describe a person, a machine, or the source and the
	// data of an application.
	personal = setOf("user", "email", "username", "user_name", "user_id", "user_segment", "ip_address", "server_name", "did", "geo", "comments", "contact_email",
		"vars", "context_line", "pre_context", "post_context", "cookies", "query_string",
		semconv.UserID, semconv.UserName, semconv.UserFullName, semconv.UserEmail, semconv.UserHash, semconv.UserIP, semconv.UserIPAddress,
		semconv.EnduserID, semconv.EnduserPseudoID, semconv.ClientAddress, semconv.ServerAddress, semconv.HostName,
		semconv.SentryRequestQueryString, semconv.SentryRequestData, semconv.SentryRequestCookies, semconv.SentryRequestEnv)

	// personalIn are personal members of some objects only.
	personalIn = map[string]map[string]bool{
		"request":  setOf("data", "env"),
		"feedback": setOf("name", "message"),
		"device":   setOf("name", "id", "device_unique_identifier"),
	}

	// places are the attributes of members, for the rules of package scrub. Texts without a place
	// are important texts, and objects and lists without one are attributes of their own name.
	places = map[string]string{
		"exception": semconv.SentryExceptions, "stacktrace": semconv.SentryExceptions, "threads": semconv.SentryThreads, "frames": semconv.SentryThreads,
		"breadcrumbs": semconv.SentryBreadcrumbs, "debug_meta": semconv.SentryDebugMetaImages, "images": semconv.SentryDebugMetaImages,
		"url": semconv.HTTPURL, "description": semconv.SentryDescription, "params": semconv.SentryMessageParameters,
	}

	// attributes are members whose members are attributes.
	attributes = setOf("tags", "data", "extra", "attributes")

	// structure are objects, and lists of objects, without data of their own.
	structure = setOf("spans", "items", "profile", "request", "logentry", "transaction", "transactions", "attrs", "trace", "measurements", "discarded_events", "thread_metadata", "queue_metadata")
)

func setOf(keys ...string) map[string]bool {
	set := map[string]bool{}
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// json scrubs a document in place, and overwrites everything that is not valid JSON.
func (e *editor) json(document []byte, examine func(*editor, *node)) {
	root, rest := parse(document)
	e.masked(&root)
	examine(e, &root)
	maskTokens(rest)
}

// masked overwrites personal members, and names of users in paths.
func (e *editor) masked(n *node) {
	if n.kind == '"' && maskUsers(n.token) {
		text := []byte(n.text)
		maskUsers(text)
		n.text = string(text)
		e.report.Values[RulePersonal]++
	}
	for i := range n.members {
		m := &n.members[i]
		if personal[m.key] || personalIn[n.key][m.key] {
			m.typed().mask()
			e.report.Values[RulePersonal]++
			continue
		}
		e.masked(m)
	}
}

// userPath matches names of users in paths, also in paths with escaped backslashes.
var userPath = regexp.MustCompile(`(?i)(?:/home/|/Users/|\\Users\\{1,2})([^/\\"]+)`)

func maskUsers(text []byte) (found bool) {
	for _, match := range userPath.FindAllSubmatchIndex(text, -1) {
		fill(text[match[2]:match[3]])
		found = true
	}
	return found
}

// header scrubs the header of an envelope or of an item.
func header(e *editor, root *node) {
	for i := range root.members {
		switch m := &root.members[i]; m.key {
		case "dsn":
			maskDSN(m.token)
			e.report.Values[RulePersonal]++
		case "public_key":
			maskKey(m.token)
		case "trace":
			header(e, m)
		case "filename", "transaction":
			e.text(m)
		}
	}
}

// dsn matches the key and the host of a DSN, whose slashes may be escaped.
var dsn = regexp.MustCompile(`^https?:(?:\\?/){2}([^@]*)@([^:/\\]*)`)

// maskDSN overwrites the key and the host. The result is a DSN of the same project.
func maskDSN(token []byte) {
	match := dsn.FindSubmatchIndex(token)
	if match == nil {
		fill(token)
		return
	}
	maskKey(token[match[2]:match[3]])
	for i := match[4]; i < match[5]; i++ {
		if token[i] != '.' {
			token[i] = 'x'
		}
	}
}

func maskKey(key []byte) {
	for i := range key {
		key[i] = '0'
	}
}

// event scrubs the payload of an item.
func event(e *editor, root *node) {
	switch root.kind {
	case '{':
		for i := range root.members {
			e.member(&root.members[i])
		}
	case '[':
		for i := range root.members {
			event(e, &root.members[i])
		}
	}
}

// member scrubs a member of an item, or of an object of its structure.
func (e *editor) member(m *node) {
	switch place := places[m.key]; {
	case kept[m.key] || opaque[m.key]:
	case place != "":
		e.attribute(place, m)
	case !m.isContainer():
		e.text(m)
	case attributes[m.key]:
		e.each(m, func(name string) string { return name })
	case m.key == "contexts":
		e.each(m, func(name string) string { return semconv.SentryContextPrefix + name })
	case m.key == "headers" && m.kind == '{':
		e.each(m, func(name string) string { return semconv.HTTPRequestHeaderPrefix + strings.ToLower(name) })
	case structure[m.key]:
		event(e, m)
	default:
		e.attribute(m.key, m)
	}
}

// each scrubs the members of an object as attributes.
func (e *editor) each(object *node, nameOf func(string) string) {
	if object.kind != '{' {
		e.attribute(object.key, object)
		return
	}
	for i := range object.members {
		m := &object.members[i]
		value := m.typed()
		e.attribute(nameOf(m.key), value)
		if value == m {
			continue
		}
		for j := range m.members {
			if other := &m.members[j]; other != value {
				e.member(other)
			}
		}
	}
}

// typed returns the value of a typed attribute, {"value":…,"type":…}, or the node itself.
func (n *node) typed() *node {
	value, types := n, 0
	for i := range n.members {
		switch n.members[i].key {
		case "value":
			value = &n.members[i]
		case "type":
			types++
		}
	}
	if n.kind == '{' && types > 0 {
		return value
	}
	return n
}

// text scrubs a member by the rules for important texts, and by its name.
func (e *editor) text(m *node) {
	object := node{kind: '{', members: []node{*m}}
	e.attribute(semconv.SentryMessageTemplate, &object)
}

// attribute scrubs a value by the rules for an attribute.
func (e *editor) attribute(key string, n *node) {
	m := pcommon.NewMap()
	if err := m.PutEmpty(key).FromRaw(n.raw()); err != nil {
		return // raw returns supported types only
	}
	counts := e.rules.Attributes(m)
	if len(counts) == 0 {
		return
	}
	e.count(counts)
	if value, left := m.Get(key); left {
		n.apply(value)
	} else {
		n.mask()
	}
}

var id = regexp.MustCompile(`^(?:[0-9a-fA-F]{16}|[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)

// isID reports whether a text is the ID that its key promises: rules for numbers must not change
// it.
func (n *node) isID() bool {
	return strings.HasSuffix(strings.ToLower(n.key), "id") && id.MatchString(n.text)
}
