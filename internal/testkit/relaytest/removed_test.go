// SPDX-License-Identifier: Apache-2.0

package relaytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// forms are texts with a secret: words next to it, formats around it, encodings of its name, and
// secrets that rules recognize by themselves. A % begins a placeholder or is doubled.
var forms = []string{
	"hello %s",
	"the password is %s", "my secret %s", "passwd %s", "api_key %s", "auth %s", "credentials %s", "MYSQL_PWD %s", "private-key %s",
	"password=%s", "db.password.prod: %s", "PasswordNew: %s", "token=%s", "token: %s", "secret: '%s'", "password => \"%s\"", ":password=>\"%s\"", "{'password': '%s'}", "password\n%s", "password:\n  %s",
	`{"password":"%s"}`, `{"a":{"api_key":["%s"]}}`, `{"a":"{\"password\":\"%s\"}"}`, `{"a":"{\"b\":\"{\\\"password\\\":\\\"%s\\\"}\"}"}`,
	`{"label":"password","value":"%s"}`, `{"name":"password","value":"%s"}`, `[["X-Auth-Token","%s"]]`, `["password","a","%s"]`,
	"password=%s&q=1", "q=1&p%%61ssword=%s", "p%%61ssword=%s&q=1", "user%%5Bpassword%%5D=%s", "p%%2561ssword=%s", "q=the+password+is+%s", "a=1;password=%s", "+password=%s",
	"password\n=%s", "password\t=%s", "password\x01=%s", "pass\x00word=%s", "pass\x01word=%s", "\x01password=%s", "password%%0A=%s", "password%%00=%s", "pass%%00word=%s", "%%09password=%s",
	"a=1&password\x7f=%s", "a=1&\x1fpassword\x1f=%s",
	"<password>%s</password>", "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n%s\r\n--b--",
	"SELECT * FROM u WHERE password = '%s'", "INSERT INTO u (name, password) VALUES ('a', '%s')", "UPDATE u SET a = '%s' WHERE secret IS NULL",
	"SELECT 1 -- the password is %s", "SELECT the password %s", "SELECT 1 /* secret %s */", `INSERT INTO u (password) VALUES ("%s")`, "INSERT INTO u (otp, secret) VALUES (1, %n)", "SELECT password, $$%s$$", "ALTER USER u IDENTIFIED BY '%s' PASSWORD EXPIRE",
	"AUTH %s", "SET auth:1 %s", `{"find":"users","filter":{"password":"%s"}}`, `mutation { login(user: "a", password: "%s") { id } }`, `query { a(password: "p", b: "%s") }`,
	"Authorization: Basic %s", "Bearer %s", "bearer\n%s", "Cookie: sid=%s; auth=1",
	"postgres://u:%s@db/x", "https://u:%s@h/", "https://h/x?token=%s", "https://h/x?a=1&p%%61ssword=%s#f", "https://h/x?q=the+password+is+%s", "https://h/x#access_token=%s", "https://h/x?a=%s&b=password", "https://h/auth/%s",
	"-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----",
	"%card", "card %card.", "iban %iban", "ssn %ssn", "%ip", "from %ip", "http://%ip/x", "%ip:80", "::ffff:%ip", "[%ip6]:80", "from %ip6 to", "a=%ip&b=1",
}

// secret returns the n-th secret of a placeholder.
func secret(placeholder string, n int) string {
	switch placeholder {
	case "%card":
		return fmt.Sprintf("4000%012d", n)
	case "%iban":
		return fmt.Sprintf("DE89%018d", n)
	case "%ssn":
		return fmt.Sprintf("%03d-%02d-%04d", 100+n/1_000_000, n/10_000%100, n%10_000)
	case "%ip":
		return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	case "%ip6":
		return fmt.Sprintf("fd00:1:2:3:4:5:%x:%x", 0x1000+n>>12, 0x1000+n&0xfff)
	case "%n":
		return strconv.Itoa(770_000_000 + n)
	default:
		return fmt.Sprintf("hush%06dhush", n)
	}
}

var (
	placeholder = regexp.MustCompile(`%(?:s|n|card|iban|ssn|ip6|ip)`)
	secrets     = regexp.MustCompile(`hush\d{6}hush|4000\d{12}|DE89\d{18}|1\d\d-\d\d-\d{4}|\b10\.\d+\.\d+\.\d+|fd00:1:2:3:4:5:[0-9a-f]{4}:[0-9a-f]{4}|77\d{7}`)
)

// specimen is a form at a place.
type specimen struct{ form, place string }

// TestOnlyOneRemoves puts every form of secrets at every place of an event, a transaction and its
// spans, and compares the removed secrets with those that Sentry's own scrubber removes, in both
// directions.
func TestOnlyOneRemoves(t *testing.T) {
	Python(t)
	scrubber, err := scrub.New(scrub.DefaultConfig())
	require.NoError(t, err)
	var events [][]byte
	specimens := 0
	of := map[string]specimen{}
	for _, p := range places(t) {
		for _, form := range forms {
			if specimens++; !testsize.Full() && specimens%199 != 0 && form != probe {
				continue
			}
			n := len(of)
			var planted string
			text := placeholder.ReplaceAllStringFunc(strings.ReplaceAll(form, "%%", "\x1a"), func(kind string) string {
				planted = secret(kind, n)
				return planted
			})
			of[planted] = specimen{form, p.name}
			events = append(events, p.with(strings.ReplaceAll(text, "\x1a", "%")))
		}
	}
	kept, added := differences{wanted: exceptions}, differences{wanted: additions, skipped: map[string]bool{}}
	both := 0
	stripped := Strip(t, events)
	var more []specimen
	for i, event := range events {
		before, after := found(stripped[i][0]), found(stripped[i][1])
		plain, ours := found(output(t, event, nil)), found(output(t, event, scrubber))
		for s := range before {
			if of[s].form == probe && after[s] {
				added.skipped[of[s].place] = true
			}
			switch {
			case !after[s] && !ours[s]:
				both++
			case !after[s]:
				kept.add(of[s])
			case !ours[s] && plain[s]:
				more = append(more, of[s])
			}
		}
	}
	for _, s := range more {
		added.add(s)
	}
	t.Logf("%d specimens; both remove %d secrets", len(events), both)
	kept.report(t, "only Sentry removes")
	added.report(t, "only this package removes")
	assert.Greater(t, both, len(events)/4, "the places are translated and scrubbed")
}

// probe is a form that Sentry's default rules remove wherever they apply.
const probe = "card %card."

// difference is a class of secrets that only one of the two scrubbers removes, by its row in
// docs/scrubbing.md.
type difference struct {
	reason      string
	place, form *regexp.Regexp // nil = the places that Sentry's default rules skip
}

// differences counts the secrets that only one scrubber removes.
type differences struct {
	wanted  []difference
	skipped map[string]bool     // places that Sentry's default rules skip
	counts  map[string]int      // by reason
	others  map[string][]string // forms by place
}

func (d *differences) add(s specimen) {
	if d.counts == nil {
		d.counts, d.others = map[string]int{}, map[string][]string{}
	}
	for _, w := range d.wanted {
		if w.place == nil && d.skipped[s.place] || w.place != nil && w.place.MatchString(s.place) && w.form.MatchString(s.form) {
			d.counts[w.reason]++
			return
		}
	}
	d.others[s.place] = append(d.others[s.place], s.form)
}

// report fails for each secret of no class, and for each class without its row.
func (d *differences) report(t *testing.T, what string) {
	documented, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "scrubbing.md"))
	require.NoError(t, err)
	for reason, n := range d.counts {
		t.Logf("%s %d: %s", what, n, reason)
		assert.Contains(t, string(documented), "| "+reason+" |", "a row of docs/scrubbing.md")
	}
	for _, place := range slices.Sorted(maps.Keys(d.others)) {
		slices.Sort(d.others[place])
		t.Errorf("%s: %s %q", place, what, slices.Compact(d.others[place]))
	}
}

// exceptions are secrets that stay although Sentry removes them.
var exceptions = []difference{
	{"other parts of a URL that contains a sensitive word", regexp.MustCompile(`[.: ](url|navigation|http\.(url|query|target|fragment)|nel|integrity|\w*\.?lcp|request\.fragment|` +
		`file\.path|host\.name|server_name|user\.geo|\S*url|measure\.(launch\.intent_data|lifecycle\.intent))\b`), regexp.MustCompile(`^https://h/(x\?a=%s&b=password|auth/%s)$`)},
	{"an SQL statement that contains a sensitive word, without its literals and comments", regexp.MustCompile(`\b(db\.(query\.text|statement)|sentry\.normalized_description)$`), regexp.MustCompile(`^SELECT the password %s$`)},
	{"span attributes that the receivers write themselves", regexp.MustCompile(`^span\.data: (sentry\.(exceptions|threads|breadcrumbs|debug_meta\.images|context\.\w+|fingerprint|logger|` +
		`monitor\.config|measurements|modules|tags|sdk\.x|stacktrace|template|debug_meta\.sdk_info|culprit|checksum|site|meta|segment\.name\.x)|code\.stacktrace(\.original)?|measure\..*|profile\.frame\.type|profiler_id|process\.executable\.path|file\.name)$`), regexp.MustCompile(``)},
	{"`User-Agent` headers in spans", regexp.MustCompile(`^span\.data: (user_agent\.x|http\.request\.header\.user[-_]agent)$`), regexp.MustCompile(``)},
	{"token counts and costs of generative AI", regexp.MustCompile(`^span\.data: gen_ai\.(usage\.x|cost\.x|token\.type)$`), regexp.MustCompile(``)},
	{"attributes that Sentry's current [conventions](../internal/scrub/names.txt) exempt", regexp.MustCompile(`^span\.data: (mcp\.(prompt\.result|tool\.result\.content)|aws\.secretsmanager\.secret\.name)$`), regexp.MustCompile(``)},
}

// additions are secrets that only this package removes.
var additions = []difference{
	{"secrets in fields that Sentry's default rules skip", nil, nil},
	{"values next to a sensitive name, PEM keys and URL passwords in log bodies and AI messages", regexp.MustCompile(`\b(logentry\.formatted|gen_ai\.\S+)$`), regexp.MustCompile(``)},
	{"query parameters with encoded names, in URLs and forms", regexp.MustCompile(``), regexp.MustCompile(`%%(61|5B|25|09|0A|00)`)},
	{"all cookies in text form", regexp.MustCompile(`[.: ](request\.cookies|http\.(request\.)?cookies|\S*[Cc]ookie)$`), regexp.MustCompile(``)},
	{"in the body of a request or a response: unquoted card numbers, and values anywhere near a sensitive word", regexp.MustCompile(`\b(request|response)\.data$`),
		regexp.MustCompile(`^([\[{]|%card$|https://h/x\?a=%s&b=password$|pass\x00word)`)},
	{"any value of `client.address`, `user.ip_address` and `user.ip`", regexp.MustCompile(`(client\.address|user\.ip_address|user\.ip)$`), regexp.MustCompile(``)},
	{"IP addresses in the URL of a request", regexp.MustCompile(`\brequest\.url$`), regexp.MustCompile(`%ip|//[\d.]+[:/]`)},
	{"in lines of source code: quoted literals next to a sensitive name", regexp.MustCompile(`\.(context_line|(pre|post)_context\.\d+)$`), regexp.MustCompile(``)},
}

// found returns the secrets in a text.
func found(text []byte) map[string]bool {
	all := map[string]bool{}
	for _, s := range secrets.FindAll(text, -1) {
		all[string(s)] = true
	}
	return all
}

// output returns everything that the receiver sends on for an event, as JSON.
func output(t *testing.T, event []byte, scrubber *scrub.Scrubber) (all []byte) {
	kind := "event"
	if bytes.Contains(event, []byte(`"start_timestamp"`)) {
		kind = "transaction"
	}
	body := fmt.Appendf(nil, "{}\n{\"type\":%q,\"length\":%d}\n%s\n", kind, len(event), event)
	envelope, err := sentry.ReadEnvelope(body)
	require.NoError(t, err)
	settings := sentryitems.DefaultSettings()
	settings.IncludePII = true
	for _, item := range profilefile.Examine(envelope, settings, time.Unix(1777629600, 0)).Items {
		for _, d := range item.Deliveries {
			var text []byte
			switch data := d.Message.Data().(type) {
			case ptrace.Traces:
				scrubber.Traces(data)
				text, err = new(ptrace.JSONMarshaler).MarshalTraces(data)
			case plog.Logs:
				scrubber.Logs(data)
				text, err = new(plog.JSONMarshaler).MarshalLogs(data)
			case pmetric.Metrics:
				scrubber.Metrics(data)
				text, err = new(pmetric.JSONMarshaler).MarshalMetrics(data)
			}
			require.NoError(t, err)
			all = append(all, text...)
		}
	}
	return all
}

// place is a text in an event.
type place struct {
	name string
	with func(text string) []byte // returns the event with a text there
}

// places returns every text of the events with all fields, every attribute that the scrubber knows
// as data of a span, and further fields.
func places(t *testing.T) (all []place) {
	for _, name := range []string{"event", "transaction"} {
		content, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata", "cases", "all-fields-"+name, "in.envelope"))
		require.NoError(t, err)
		envelope, err := sentry.ReadEnvelope(content)
		require.NoError(t, err)
		full := string(envelope.Items[0].Payload)
		var document any
		require.NoError(t, json.Unmarshal([]byte(full), &document))
		for _, path := range leaves(document, nil) {
			all = append(all, place{name + ": " + strings.Join(path, "."), func(text string) []byte { return edited(full, path, text) }})
		}
	}
	table, err := os.ReadFile(filepath.Join(golden.Root(t), "internal", "scrub", "places.txt"))
	require.NoError(t, err)
	keys := []string{"anything", "rpc.request", "aws.request", "graphql.variables"}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "#" {
			key, isPrefix := strings.CutSuffix(fields[0], "*")
			if isPrefix {
				key += "x"
			}
			keys = append(keys, key)
		}
	}
	span := `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","type":"transaction","transaction":"t","start_timestamp":1777629599.5,"timestamp":1777629600.5,"platform":"python",
		"contexts":{"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","op":"x","data":{}}},
		"spans":[{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"7f1b2c3d4e5f6071","parent_span_id":"6f1b2c3d4e5f6071","op":"x","start_timestamp":1777629599.5,"timestamp":1777629600.5,"data":{}}]}`
	for _, key := range keys {
		all = append(all, place{"span.data: " + key, func(text string) []byte { return edited(span, []string{"spans", "0", "data", key}, text) }})
	}
	for _, key := range []string{"anything", "url.full", "db.query.text", "exception.message", "http.request.header.x"} {
		all = append(all, place{"contexts.trace.data: " + key, func(text string) []byte { return edited(span, []string{"contexts", "trace", "data", key}, text) }})
	}
	event := `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","timestamp":1777629600.5,"platform":"python","extra":{},"request":{"url":"https://h/"},"user":{"id":"1"},
		"breadcrumbs":{"values":[{"type":"http","message":"m","data":{"url":"u"}}]},"contexts":{"response":{},"own":{}},
		"exception":{"values":[{"type":"E","value":"v","mechanism":{"type":"m","data":{},"meta":{}},"stacktrace":{"frames":[{"function":"f","vars":{}}]}}]}}`
	for _, path := range []string{
		"extra.x", "request.query_string", "request.data", "request.data.x", "request.cookies", "request.fragment", "request.env.x", "request.headers.X-A", "user.username", "user.data.x",
		"breadcrumbs.values.0.message", "breadcrumbs.values.0.data.url", "breadcrumbs.values.0.data.x", "contexts.own.x", "contexts.response.data", "contexts.response.headers.X-A",
		"exception.values.0.mechanism.description", "exception.values.0.mechanism.help_link", "exception.values.0.mechanism.data.x", "exception.values.0.mechanism.meta.x",
		"exception.values.0.stacktrace.frames.0.vars.x",
	} {
		all = append(all, place{"event: " + path, func(text string) []byte { return edited(event, strings.Split(path, "."), text) }})
	}
	return all
}

// leaves returns the paths of all texts in a document.
func leaves(document any, parents []string) (all [][]string) {
	switch value := document.(type) {
	case string:
		return [][]string{slices.Clone(parents)}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, leaves(value[key], append(parents, key))...)
		}
	case []any:
		for i, member := range value {
			all = append(all, leaves(member, append(parents, strconv.Itoa(i)))...)
		}
	}
	return all
}

// edited returns a document with a text at a path.
func edited(document string, path []string, text string) []byte {
	var root any
	_ = json.Unmarshal([]byte(document), &root)
	at := root
	for i, key := range path {
		last := i == len(path)-1
		switch value := at.(type) {
		case map[string]any:
			if last {
				value[key] = text
			} else if _, is := value[key]; !is {
				value[key] = map[string]any{}
			}
			at = value[key]
		case []any:
			index, _ := strconv.Atoi(key)
			if last {
				value[index] = text
			}
			at = value[index]
		}
	}
	encoded, _ := json.Marshal(root)
	return encoded
}
