// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// shape is a kind of payload that the collector accepts: a valid payload as a JSON tree, and the
// way to send it.
//
// Members with a name that starts with @ are framing: an object with such a member is not repeated,
// and texts and lists below "@header", "@headers" and "@query" stay within the limits of headers.
type shape struct {
	name     string
	receiver string // sentry, otlp, otlp-dsn (the sentry receiver) or measure
	seed     any
	request  func(tree any) harness.Request
	pages    bool // the viewer shows it
}

func (s *shape) isOTLP() bool { return strings.HasPrefix(s.receiver, "otlp") }

// shapes returns all kinds of payloads.
func shapes(t testing.TB) (all []shape) {
	for _, name := range []string{
		"all-fields-transaction", "all-fields-v1", "all-fields-v2", "all-fields-spans", "all-fields-event", "all-fields-logs", "all-fields-trace-metrics",
		"event-native", "event-python-attachments", "span-browser-standalone", "session-updates", "sessions-all-counts", "check-in-error",
		"client-report-all-outcomes", "user-feedback", "feedback-browser", "replay-browser", "security-browser", "described-items",
		"react-native-v1-hermes", "android-v1-legacy-trace", "android-v2-anr", "quirk-37-node-statsd", "envelope-unknown-item",
	} {
		body := readSeed(t, "cases", name, "in.envelope")
		all = append(all, shape{"envelope: " + name, "sentry", envelopeTree(t, body), envelopeOfTree, strings.HasPrefix(name, "all-fields")})
	}
	event := envelopeTree(t, readSeed(t, "cases", "user-feedback", "in.envelope"))["@items"].([]any)[0].(map[string]any)["@payload"]
	all = append(all,
		shape{"store: event", "sentry", map[string]any{"@query": map[string]any{}, "@body": event}, jsonTo("POST", "/api/42/store/"), true},
		shape{"security: reports", "sentry", parsed(t, `{"@query": {"sentry_release": "shop@1.0", "sentry_environment": "prod"}, "@headers": {"Content-Type": "application/reports+json", "User-Agent": "Mozilla/5.0"},
			"@body": [{"type": "csp-violation", "age": 10, "url": "https://shop.example/", "user_agent": "Mozilla/5.0", "body": {"blockedURL": "inline", "documentURL": "https://shop.example/",
			"effectiveDirective": "script-src", "originalPolicy": "default-src", "disposition": "report", "statusCode": 200}}]}`), jsonTo("POST", "/api/42/security/"), false},
		shape{"nel: reports", "sentry", parsed(t, `{"@query": {"sentry_release": "shop@1.0", "sentry_environment": "prod"}, "@headers": {"Content-Type": "application/reports+json"},
			"@body": [{"type": "network-error", "age": 10, "url": "https://shop.example/", "user_agent": "Mozilla/5.0", "body": {"type": "http.error", "phase": "application", "server_ip": "203.0.113.1", "status_code": 500}}]}`), jsonTo("POST", "/api/42/nel/"), false},
		shape{"cron: check-in", "sentry", parsed(t, `{"@query": {}, "@headers": {"Content-Type": "application/json"},
			"@body": {"status": "error", "environment": "prod", "duration": 1.5, "release": "shop@1.0", "contexts": {"trace": {"trace_id": "8a5c1bfa0e1a4f3ab5f1d2c3b4a59687"}},
			"monitor_config": {"schedule": {"type": "crontab", "value": "0 * * * *"}, "timezone": "UTC"}}}`), jsonTo("POST", "/api/42/cron/nightly/"), false},
		shape{"cron: query", "sentry", parsed(t, `{"@query": {"status": "ok", "environment": "prod", "check_in_id": "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6", "duration": "1.5"}, "@headers": {"Content-Type": "text/plain"}, "@body": {}}`), jsonTo("POST", "/api/42/cron/nightly/"), false},
		shape{"measure: build", "measure", parsed(t, `{"@headers": {"Authorization": "Bearer e2e-key"}, "@body": {"version_name": "1.0", "version_code": "1", "build_type": "apk", "build_size": 1,
			"mappings": [{"type": "proguard", "filename": "mapping.txt"}, {"type": "elf_debug", "filename": "libshop.so"}]}}`), jsonTo("PUT", "/builds"), false},
	)
	for _, c := range golden.MeasureCases(t) {
		var body any
		require.NoError(t, json.Unmarshal([]byte(c.Read(t, "in.json")), &body))
		tree := map[string]any{"@headers": map[string]any{"Authorization": "Bearer e2e-key"}, "@body": body}
		all = append(all, shape{"measure: " + c.Name, "measure", tree, jsonTo("PUT", "/events"), true})
	}
	for signal, path := range map[string]string{"profiles": harness.ProfilesPath, "traces": harness.TracesPath, "logs": harness.LogsPath, "metrics": harness.MetricsPath} {
		tree := map[string]any{"@body": parsed(t, string(readSeed(t, "otlp", signal+".json")))}
		// The page shows the same for both.
		all = append(all, shape{"otlp: " + signal, "otlp", tree, jsonTo("POST", path), signal != "metrics"},
			shape{"otlp at the DSN: " + signal, "otlp-dsn", tree, jsonTo("POST", "/api/42/integration/otlp/v1/"+signal+"/?sentry_key="+harness.TestKey), false})
	}
	slices.SortFunc(all, func(a, b shape) int { return strings.Compare(a.name, b.name) })
	return all
}

func readSeed(t testing.TB, path ...string) []byte {
	text, err := os.ReadFile(filepath.Join(append([]string{golden.Root(t), "testdata"}, path...)...))
	require.NoError(t, err)
	return text
}

func parsed(t testing.TB, text string) (tree any) {
	require.NoError(t, json.Unmarshal([]byte(text), &tree))
	return tree
}

func jsonOf(tree any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the payload has "<" as one byte; an escape of six bytes would be the collector's
	if err := encoder.Encode(tree); err != nil {
		panic(err) // the tree consists of maps, lists, texts and numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// envelopeTree parses an envelope. Payloads other than JSON become texts.
func envelopeTree(t testing.TB, body []byte) map[string]any {
	line, rest, _ := bytes.Cut(body, []byte("\n"))
	var items []any
	for header := (map[string]any)(nil); len(bytes.TrimSpace(rest)) > 0; header = nil {
		var itemHeader, payload []byte
		itemHeader, rest, _ = bytes.Cut(bytes.TrimLeft(rest, "\n"), []byte("\n"))
		require.NoError(t, json.Unmarshal(itemHeader, &header), "%s", itemHeader)
		if length, stated := header["length"].(float64); stated {
			payload, rest = rest[:int(length)], rest[int(length):]
		} else {
			payload, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		var tree any
		if json.Unmarshal(payload, &tree) != nil {
			tree = string(bytes.ReplaceAll(payload, []byte("\n"), nil))
		}
		items = append(items, map[string]any{"@header": header, "@payload": tree})
	}
	header := parsed(t, string(line)).(map[string]any)
	if header["dsn"] != nil {
		header["dsn"] = "http://" + harness.TestKey + "@localhost:4319/42"
	}
	return map[string]any{
		"@headers": map[string]any{"X-Sentry-Auth": "Sentry sentry_version=7, sentry_key=" + harness.TestKey + ", sentry_client=e2e/1.0", "User-Agent": "sentry.python/2.68.0", "Origin": "https://shop.example", "Referer": "https://shop.example/cart"},
		"@header":  header, "@items": items,
	}
}

func envelopeOfTree(tree any) harness.Request {
	root := tree.(map[string]any)
	body := append(jsonOf(root["@header"]), '\n')
	for _, item := range root["@items"].([]any) {
		item := item.(map[string]any)
		payload := item["@payload"]
		header := maps.Clone(item["@header"].(map[string]any))
		delete(header, "length") // each payload is on one line
		body = append(append(body, jsonOf(header)...), '\n')
		if text, ok := payload.(string); ok {
			body = append(body, text...)
		} else {
			body = append(body, jsonOf(payload)...)
		}
		body = append(body, '\n')
	}
	return harness.Request{Target: "/api/42/envelope/", Headers: headersOf(root), Body: body}
}

// jsonTo sends a tree as a JSON body.
func jsonTo(method, path string) func(any) harness.Request {
	return func(tree any) harness.Request {
		root := tree.(map[string]any)
		r := harness.Request{Method: method, Target: path, Headers: headersOf(root), Body: jsonOf(root["@body"])}
		if query, sentry := root["@query"].(map[string]any); sentry {
			values := url.Values{"sentry_key": {harness.TestKey}}
			for name, value := range query {
				values.Set(name, fmt.Sprint(value))
			}
			r.Target += "?" + values.Encode()
		}
		return r
	}
}

func headersOf(root map[string]any) (list [][2]string) {
	headers, _ := root["@headers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, [2]string{http.CanonicalHeaderKey(name), fmt.Sprint(headers[name])})
	}
	if headers["Content-Type"] == nil {
		list = append(list, [2]string{"Content-Type", "application/json"})
	}
	return list
}

// place is the path of a node in a tree: keys and indices from the root.
type place []any

func (p place) String() string { return p.text(func(i int) string { return strconv.Itoa(i) }) }

// kind returns a text that is equal for all elements of a list.
func (p place) kind() string { return p.text(func(int) string { return "" }) }

func (p place) text(index func(int) string) string {
	var b strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case string:
			b.WriteString("." + strings.TrimPrefix(step, "@"))
		case int:
			b.WriteString("[" + index(step) + "]")
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

func (p place) and(step any) place { return append(slices.Clone(p), step) }

func (p place) inHeaders() bool {
	return slices.ContainsFunc(p, func(step any) bool { return step == "@header" || step == "@headers" || step == "@query" })
}

// common returns the length of the common prefix of two places.
func (p place) common(other place) (n int) {
	for n < min(len(p), len(other)) && p[n] == other[n] {
		n++
	}
	return n
}

// walk visits all nodes of a tree, members of objects in the order of their names.
func walk(node any, at place, visit func(place, any)) {
	visit(at, node)
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			walk(node[key], at.and(key), visit)
		}
	case []any:
		for i := range node {
			walk(node[i], at.and(i), visit)
		}
	}
}

// changed returns a copy of the tree in which the node at a place is changed. It shares all other
// nodes.
func changed(node any, at place, change func(any) any) any {
	if len(at) == 0 {
		return change(node)
	}
	switch node := node.(type) {
	case map[string]any:
		key := at[0].(string)
		node = maps.Clone(node)
		node[key] = changed(node[key], at[1:], change)
		return node
	case []any:
		i := at[0].(int)
		node = slices.Clone(node)
		node[i] = changed(node[i], at[1:], change)
		return node
	}
	panic("no such place: " + at.String())
}

// long is a place in a tree for a long text.
type long struct {
	at   place
	name string
	form longForm
	mark string // represents the text in an encoded request
}

type longForm string

const (
	longValue  longForm = ""
	longKey    longForm = " key"       // as the key of an additional member
	longObject longForm = " as object" // an object that contains the text, as the value of an attribute
)

func (l long) String() string { return l.name }

// longs returns all texts of a tree. Of equal elements in a list, it returns only the first. OTLP
// attributes differ by their key, and entries of a dictionary by their index. With a schema,
// objects have no additional members.
func longs(tree any, schema bool) (all []long) {
	seen := map[string]bool{}
	walk(tree, nil, func(at place, node any) {
		l := long{at: at, form: longValue, mark: fmt.Sprintf("LONG%dLONG", len(all))}
		if object, ok := node.(map[string]any); ok {
			_, attribute := object["stringValue"]
			switch {
			case attribute:
				l.form = longObject
			case isFraming(object) || len(object) == 0 || schema:
				return
			default:
				l.form = longKey
			}
		} else if _, ok := node.(string); !ok {
			return
		}
		l.name = labeled(tree, at) + string(l.form)
		if !seen[l.name] {
			seen[l.name] = true
			all = append(all, l)
		}
	})
	return all
}

// labeled returns the place with the keys of attributes and the indices of a dictionary.
func labeled(node any, at place) string {
	var b strings.Builder
	dictionary := slices.Contains(at, any("dictionary"))
	for _, step := range at {
		switch step := step.(type) {
		case string:
			b.WriteString("." + strings.TrimPrefix(step, "@"))
			node = node.(map[string]any)[step]
		case int:
			node = node.([]any)[step]
			object, _ := node.(map[string]any)
			key, attribute := object["key"].(string)
			switch {
			case attribute:
				b.WriteString("[" + key + "]")
			case dictionary:
				b.WriteString("[" + strconv.Itoa(step) + "]")
			default:
				b.WriteString("[]")
			}
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// put returns the tree with the mark in place of the text.
func (l long) put(tree any) any {
	return changed(tree, l.at, func(node any) any {
		if l.form == longValue {
			return l.mark
		}
		object := maps.Clone(node.(map[string]any))
		if l.form == longObject {
			return map[string]any{"kvlistValue": map[string]any{"values": []any{map[string]any{"key": "k", "value": map[string]any{"stringValue": l.mark}}}}}
		}
		object[l.mark] = object[smallMembers(object)[0]]
		return object
	})
}

// text returns the original text, if there is one.
func (l long) text(tree any) (text string) {
	walk(tree, nil, func(at place, node any) {
		if l.form == longValue && slices.Equal(at, l.at) {
			text = node.(string)
		}
	})
	return text
}

// template is an encoded request in which texts can be replaced, because encoding a tree takes
// longer than the collector needs to process it.
type template struct {
	harness.Request
	originals map[string]string // by mark
	body      []piece           // of the body
}

// piece is a part of the body, followed by a mark.
type piece struct {
	text []byte
	mark string // "" = no mark
	json bool   // the mark is in a JSON string
}

// templateOf encodes a tree with a mark in place of each text.
func templateOf(s shape, tree any, all []long) template {
	originals := map[string]string{}
	for _, l := range all {
		originals[l.mark] = l.text(s.seed)
		tree = l.put(tree)
	}
	r := s.request(tree)
	return template{r, originals, pieces(r.Body)}
}

var marks = regexp.MustCompile(`"?LONG\d+LONG"?`)

func pieces(text []byte) (all []piece) {
	end := 0
	for _, found := range marks.FindAllIndex(text, -1) {
		mark := text[found[0]:found[1]]
		all = append(all, piece{text[end:found[0]], string(bytes.Trim(mark, `"`)), mark[0] == '"'})
		end = found[1]
	}
	return append(all, piece{text: text[end:]})
}

// with returns the request with a text in place of its mark, and the original texts in place of all
// other marks.
func (t template) with(mark, text string) harness.Request {
	fill := func(dst []byte, all []piece) []byte {
		for _, p := range all {
			value := cmp.Or(t.originals[p.mark], "k")
			if p.mark == mark {
				value = text
			}
			dst = append(dst, p.text...)
			switch {
			case p.mark == "":
			case p.json:
				dst = append(dst, jsonOf(value)...)
			default:
				dst = append(dst, value...)
			}
		}
		return dst
	}
	r := t.Request
	r.Target = strings.ReplaceAll(string(fill(nil, pieces([]byte(r.Target)))), " ", "+")
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i][1] = string(fill(nil, pieces([]byte(r.Headers[i][1]))))
	}
	r.Body = fill(make([]byte, 0, len(r.Body)+len(text)+1024), t.body)
	return r
}

// lists returns the places of all lists and objects that can have more elements, by kind. With a
// schema, objects have no additional members.
func lists(tree any, schema bool) map[string][]place {
	all := map[string][]place{}
	walk(tree, nil, func(at place, node any) {
		switch node := node.(type) {
		case []any:
			if len(node) > 0 {
				all[at.kind()+"[]"] = append(all[at.kind()+"[]"], at)
			}
		case map[string]any:
			if len(node) > 0 && !isFraming(node) && !schema {
				all[at.kind()+"{}"] = append(all[at.kind()+"{}"], at)
			}
		}
	})
	return all
}

func isFraming(object map[string]any) bool {
	for key := range object {
		if strings.HasPrefix(key, "@") {
			return true
		}
	}
	return false
}

// nearest returns the place with the longest common prefix: the list within the same element, if
// there is one.
func nearest(all []place, to place) place {
	return slices.MaxFunc(all, func(a, b place) int { return a.common(to) - b.common(to) })
}

// many returns a list or object with n additional elements, which are copies of its elements in
// turn; fewer if they would take more than this number of bytes.
func many(node any, n, bytes int) any {
	switch node := node.(type) {
	case []any:
		all := slices.Clone(node)
		for i := 0; i < n && bytes > 0; i++ {
			element := another(node[i%len(node)], "", i)
			bytes -= len(jsonOf(element))
			all = append(all, element)
		}
		return all
	case map[string]any:
		all, keys := maps.Clone(node), smallMembers(node)
		for i := 0; i < n && bytes > 0; i++ {
			key := keys[i%len(keys)]
			element := another(node[key], key, i)
			bytes -= len(key) + len(jsonOf(element))
			all[fmt.Sprintf("%s-%d", key, i)] = element
		}
		return all
	}
	panic("no list")
}

// smallMembers returns the keys of members that are repeated under other names. If names are free,
// members are small; if they are not, additional members have no effect.
func smallMembers(object map[string]any) []string {
	size := func(key string) int { return len(jsonOf(object[key])) }
	keys := slices.Sorted(maps.Keys(object))
	slices.SortStableFunc(keys, func(a, b string) int { return size(a) - size(b) })
	n := 1
	for n < len(keys) && size(keys[n]) <= 300 {
		n++
	}
	return keys[:n]
}

var (
	idKeys   = []string{"id", "event_id", "span_id", "spanId", "sid", "did", "check_in_id", "chunk_id", "profile_id", "profileId"}
	nameKeys = []string{"name", "key", "function", "thread_id", "release", "monitor_slug", "filename"}
)

// another returns a copy of an element that is not a duplicate: IDs, times and places differ, and
// in every second copy also names.
func another(node any, key string, i int) any {
	lower := strings.ToLower(key)
	ordered := strings.Contains(lower, "time") || strings.Contains(lower, "elapsed") || strings.Contains(lower, "addr") || lower == "lineno" || lower == "line"
	switch node := node.(type) {
	case map[string]any:
		object := make(map[string]any, len(node))
		for key, value := range node {
			object[key] = another(value, key, i)
		}
		return object
	case []any:
		list := make([]any, len(node))
		for e := range node {
			list[e] = another(node[e], key, i)
		}
		return list
	case float64:
		switch {
		case ordered && node > 1e9: // in seconds
			return node + float64(i)/100
		case ordered:
			return node + float64(i)
		}
	case string:
		switch {
		case slices.Contains(idKeys, key) && len(node) >= 16:
			return fmt.Sprintf("%s%08x", node[:len(node)-8], i+1)
		case slices.Contains(idKeys, key), slices.Contains(nameKeys, key) && i%2 == 1:
			return fmt.Sprintf("%s-%d", node, i)
		case ordered:
			if number, err := strconv.ParseInt(node, 10, 64); err == nil {
				return strconv.FormatInt(number+int64(i)*1_000_000, 10)
			}
		}
	}
	return node
}

const (
	// scrubbed is a text that every transform changes.
	scrubbed = "/home/ann/<a@b.example>."
	// escaped is a character that takes six bytes in JSON for the page.
	escaped = "<"
)

// longText returns a text of n bytes, or of as many as fit into a header.
func longText(piece string, n int, original string, at place) string {
	if at.inHeaders() {
		return original + strings.Repeat("x", min(n, 30_000))
	}
	return strings.Repeat(piece, n/len(piece)+1)[:n]
}
