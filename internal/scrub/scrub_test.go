// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func newDefault(t testing.TB) *Scrubber {
	s, err := New(DefaultConfig())
	require.NoError(t, err)
	return s
}

// after scrubs attributes of a span.
func after(t testing.TB, s *Scrubber, attributes map[string]any) (map[string]any, Counts) {
	data := ptrace.NewTraces()
	span := data.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	require.NoError(t, span.Attributes().FromRaw(attributes))
	counts := s.Traces(data)
	return span.Attributes().AsRaw(), counts
}

// TestAttributes: each line is an attribute before and after.
func TestAttributes(t *testing.T) {
	s := newDefault(t)
	for _, test := range []struct {
		key         string
		value, want any
	}{
		{"password", "x", Filtered},
		{"user.api_key", int64(5), Filtered},
		{"app.auth_id", "x", Filtered},
		{"user.two_factor", "x", Filtered},
		{"http.request.header.otp", []any{"x"}, []any{Filtered}},
		{"http.request.header.x-note", []any{"the password is x", "text/plain"}, []any{Filtered, Filtered}},
		{"sentry.meta", map[string]any{"password": map[string]any{"": map[string]any{"len": int64(9), "val": "s"}}, "token": map[string]any{"a": "b"}},
			map[string]any{"password": map[string]any{"": map[string]any{"len": int64(9), "val": Filtered}}, "token": Filtered}},
		{"credentials", map[string]any{"a": "b"}, Filtered},
		{"secret", true, true},
		{"token", "null", "null"},
		{"note", "4111 1111 1111 1111 is a card", "[Filtered] is a card"},
		{"note", "the password is x", Filtered},
		{"note", "the pass\x00word is x", Filtered},
		{"note", "only\x00 a NUL", "only\x00 a NUL"},
		{"note", "postgres://u:pw@h/db", "postgres://u:[Filtered]@h/db"},
		{"note", "from 10.0.0.1", "from [ip]"},
		{"pairs", []any{[]any{"Cookie", "a=b"}, []any{"X-Auth-Token", "s"}, []any{"Accept", "x"}},
			[]any{[]any{"Cookie", Filtered}, []any{"X-Auth-Token", Filtered}, []any{"Accept", "x"}}},
		{"rawHeaders", []any{"Host", "h", "X-Api-Key", "s", "Cookie", "a=b"}, []any{"Host", "h", Filtered, Filtered, "Cookie", Filtered}},
		{"fields", []any{map[string]any{"name": "password", "value": "s"}}, []any{map[string]any{"name": Filtered, "value": Filtered}}},
		{"fields", []any{map[string]any{"key": "Cookie", "Value": "s"}}, []any{map[string]any{"key": "Cookie", "Value": Filtered}}},
		{"body", `{"password":"x"}`, Filtered},
		{"body", `[{"name": "Cookie", "value": "a=b"}]`, `[{"name": "Cookie", "value": "[Filtered]"}]`},

		// URLs, queries and messages keep everything but the match.
		{"url.full", "https://u:pw@h/oauth/cb?token=abc&state=1&api_key=2", "https://u:[Filtered]@h/oauth/cb?token=[Filtered]&state=1&api_key=[Filtered]"},
		{"url.query", "password=hunter2&q=a", "password=[Filtered]&q=a"},
		{"url.query", "user%5Bpassword%5D=a&p%61ssword=b&q=c", "user%5Bpassword%5D=[Filtered]&p%61ssword=[Filtered]&q=c"},
		{"url.query", "next=%2Fcb%3Ftoken%3Da&x=%7B%22password%22%3A%22b%22%7D&author=c&to=/auth", "next=[Filtered]&x=[Filtered]&author=c&to=/auth"},
		{"url.query", "q=forgot+password", "q=[Filtered]"},
		{"sentry.request.cookies", "a=b", Filtered},
		{"sentry.request.cookies", map[string]any{"a": "b", "session": "c"}, map[string]any{"a": "b", "session": Filtered}},
		{"sentry.request.cookies", []any{[]any{"a", "b"}, []any{"PHPSESSID", "c"}}, []any{[]any{"a", "b"}, []any{"PHPSESSID", Filtered}}},
		{"url.full", "http://10.0.0.1/a", "http://[ip]/a"},
		{"db.query.text", "UPDATE users SET password = 'hunter2', name = 'x'", "UPDATE users SET password = '[Filtered]', name = '[Filtered]'"},
		{"db.query.text", "INSERT INTO u (name, password) VALUES ('a', 'b''c', 5, -1.5, $$x$$, $1) -- d", "INSERT INTO u (name, password) VALUES ('[Filtered]', '[Filtered]', [Filtered], [Filtered], $[Filtered], $1) -[Filtered]"},
		{"db.query.text", "SELECT t1.a FROM t WHERE b = 'x' AND c = 10", "SELECT t1.a FROM t WHERE b = 'x' AND c = 10"},
		{"db.query.text", `{"find": "users", "filter": {"password": "x"}}`, Filtered},
		{"db.query.text", "SELECT 1 FROM t WHERE a = '10.0.0.1'", "SELECT 1 FROM t WHERE a = '[ip]'"},
		{"rpc.request", "the password is x, from 10.0.0.1", Filtered},
		{"aws.request", "from 10.0.0.1", "from [ip]"},
		{"graphql.document", `mutation { login(password: "x") }`, Filtered},
		{"exception.message", "password is x", Filtered},
		{"url.full", `{"a":"{\"password\":\"x\"}"}`, Filtered},
		{"url.full", "a=1&\x1fpassword\x1f=x", Filtered},
		{"server.address", "10.0.0.1", "10.0.0.1"},
		{"sentry.request.data", "p%61ssword=x&q=1", "p%61ssword=[Filtered]&q=1"},
		{"db.query.text", "SELECT password FROM users", "SELECT password FROM users"},
		{"sentry.message.template", "login failed: Authorization: Basic dTpw, author: Jane", "login failed: Authorization: Basic [Filtered], author: Jane"},
		{"sentry.message.template", `bad {"api_key": "a\"b", "credentials": {"a": [1]}, "x": 1}`, `bad {"api_key": "[Filtered]", "credentials": [Filtered], "x": 1}`},
		{"sentry.message.template", `bad [["X-Auth-Token", "s3"], {"name": "token", "value": "s4"}]`, `bad [["X-Auth-Token", "[Filtered]"], {"name": "token", "value": "[Filtered]"}]`},
		{"gen_ai.prompt", "mail a@b.com, card 4111111111111111, Bearer abc", "mail [email], card [creditcard], Bearer [token]"},
		{"http.request.header.cookie", []any{"a=b; session=c"}, []any{Filtered}},
		{"http.request.header.authorization", []any{"x"}, []any{Filtered}},
		{"http.response.header.access-control-allow-credentials", []any{"true"}, []any{"true"}},
		{"http.request.header.user-agent", []any{"x 1.2.3.4"}, []any{"x 1.2.3.4"}},

		// IDs, hashes, versions, counters and names of files.
		{"gen_ai.usage.input_tokens", int64(5), int64(5)},
		{"messaging.message.id", "4111111111111111", "4111111111111111"},
		{"service.version", "1.2.3.4", "1.2.3.4"},
		{"process.runtime.version", "1.2.3.4", "1.2.3.4"},
		{"note", "8a5c1bfa0e1a4f3ab5f1d2c3b4a59687 4115c1bf-0e1a-4f3a-b5f1-d2c3b4a59687", "8a5c1bfa0e1a4f3ab5f1d2c3b4a59687 4115c1bf-0e1a-4f3a-b5f1-d2c3b4a59687"},
		{"code.file.path", "/srv/auth/token_store.py", "/srv/auth/token_store.py"},
		{"code.file.path", "https://u:pw@cdn/auth/a.js?token=x", "https://u:[Filtered]@cdn/auth/a.js?token=[Filtered]"},
		{"code.file.path", "webpack:///auth/token=x.js", "webpack:///auth/token=x.js"},
		{"code.function.name", "Session#password=", "Session#password="},
		{"sample", "rand=0.4111111111111111", "rand=0.4111111111111111"},
		{"thread.id", int64(4111111111111111), int64(4111111111111111)},
	} {
		got, counts := after(t, s, map[string]any{test.key: test.value})
		assert.Equal(t, map[string]any{test.key: test.want}, got)
		assert.Equal(t, fmt.Sprint(test.value) != fmt.Sprint(test.want), len(counts) > 0, "%s is counted", test.key)
		again, counts := after(t, s, got)
		assert.Equal(t, got, again, "a second pass changes nothing")
		_ = counts
	}
}

// TestReferencesInStatements: names and placeholders in SQL are no literals, by the rules of the
// database. Sentry's servers keep the descriptions of spans.
func TestReferencesInStatements(t *testing.T) {
	s := newDefault(t)
	for _, test := range []struct{ system, text, want string }{
		{"postgresql", `SELECT "a"."id" FROM "a" INNER JOIN "auth_user" ON ("a"."auth_user_id" = "auth_user"."id")`, ""},
		{"postgresql", `SELECT 1 FROM t JOIN "auth" ON credentials = "auth" AND t.secret_id = s.id`, ""},
		{"mysql", "SELECT 1 FROM `t` JOIN `credentials` ON `t`.`credentials_id` = `credentials`.`id` AND auth = `auth`", ""},
		{"microsoft.sql_server", "SELECT 1 FROM [t] JOIN [secret] ON [t].[secret_id] = [secret].[id] AND auth = [auth id]", ""},
		{"", `SELECT 1 FROM "t" JOIN "secret" ON "t"."secret_id" = "secret"."id"`, ""},
		{"postgresql", "UPDATE u SET password = $1, secret = %s, token = %(token)s, passwd = :p, api_key = @p WHERE auth_id = ?", ""},
		{"", "UPDATE u SET password = $1, secret = %s, token = %(token)s WHERE auth_id = ?", ""},

		{"postgresql", `UPDATE u SET password = 'x''y', secret = 5, auth = x, token=N'x'`, `UPDATE u SET password = '[Filtered]', secret = [Filtered], auth = x, token=N'[Filtered]'`},
		{"", "UPDATE u SET password = crypt('x', gen_salt('bf')), auth_id = (SELECT id FROM s WHERE name = 'a') WHERE auth.id = 5", "UPDATE u SET password = crypt('[Filtered]', gen_salt('[Filtered]')), auth_id = (SELECT id FROM s WHERE name = 'a') WHERE auth.id = 5"},
		{"", "SELECT a FROM t WHERE b = 1 password=x", "SELECT a FROM t WHERE b = 1 password=[Filtered]"},
		{"mysql", `UPDATE u SET password = "x" WHERE secret=0x12`, `UPDATE u SET password = "[Filtered]" WHERE secret=[Filtered]`},
		{"sqlite", `UPDATE u SET password = "x"`, `UPDATE u SET password = "[Filtered]"`},
		{"", `UPDATE u SET password = "x"`, `UPDATE u SET password = "[Filtered]"`},
		{"", "Update failed: password=a.b, secret=`x`, token=@x, auth=[x]", "Update failed: password=[Filtered], secret=`[Filtered]`, token=[Filtered], auth=[Filtered]"},
		{"postgresql", `Login failed: password="x"`, `Login failed: password="[Filtered]"`},
		{"postgresql", `UPDATE u SET password = "a=b"`, `UPDATE u SET password = "[Filtered]"`},
	} {
		data := ptrace.NewTraces()
		span := data.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetName(test.text)
		if test.system != "" {
			span.Attributes().PutStr("db.system", test.system)
		}
		s.Traces(data)
		assert.Equal(t, cmp.Or(test.want, test.text), span.Name(), test.system)
	}
	for system, want := range map[string]string{"postgresql": `SELECT a FROM t WHERE password = "x"`, "mysql": `SELECT a FROM t WHERE password = "[Filtered]"`, "": `SELECT a FROM t WHERE password = "[Filtered]"`} {
		got, _ := after(t, s, map[string]any{"db.system.name": system, "db.query.text": `SELECT a FROM t WHERE password = "x"`})
		assert.Equal(t, want, got["db.query.text"], system)
	}
}

// TestAssemblyNames: the parts of the name of a .NET assembly are public.
func TestAssemblyNames(t *testing.T) {
	s := newDefault(t)
	const name = "Shop.Auth.Token, Version=4.0.0.0, Culture=neutral, ProcessorArchitecture=MSIL, Retargetable=Yes, PublicKey=0024000004800000, PublicKeyToken=b77a5c561934e089"
	const generic = "System.Lazy`1[[Shop.Auth, Version=1.2.3.4, Culture=neutral, PublicKeyToken=null]]"
	frame := map[string]any{"package": name, "module": generic, "function": "Close", "raw_function": generic}
	for key, value := range map[string]any{
		"exception.stacktrace": "at Shop.Close() (" + name + ")", "sentry.frame.package": name, "code.function.name": generic,
		"sentry.exceptions":       []any{map[string]any{"module": name, "value": generic, "stacktrace": map[string]any{"frames": []any{frame}}}},
		"sentry.message.template": "Could not load file or assembly '" + name + "'.",
	} {
		logs := plog.NewLogs()
		record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.Body().SetStr("Could not load " + name)
		require.NoError(t, record.Attributes().FromRaw(map[string]any{key: value}))
		s.Logs(logs)
		assert.Equal(t, map[string]any{key: value}, record.Attributes().AsRaw())
		assert.Equal(t, "Could not load "+name, record.Body().Str())
	}
	for _, text := range []string{"PublicKeyToken=b77a5c561934e08", "PublicKeyToken=b77a5c561934e0891", "PublicKeyToken=hunter2", "MyToken=b77a5c561934e089"} {
		got, _ := after(t, s, map[string]any{"sentry.message.template": text})
		assert.Equal(t, text[:strings.IndexByte(text, '=')+1]+Filtered, got["sentry.message.template"])
	}
}

// TestSecretsThatLookLikeCode: a name of code has no value.
func TestSecretsThatLookLikeCode(t *testing.T) {
	const secret = "Zq7xKp93LmWv"
	for _, before := range []string{
		"SECRET_KEY: ", "AWS_SECRET_ACCESS_KEY: ", "auth.token: ", "credentials.password: ", "Auth.Password: ", "secret.key: ", "password.hash: ", "TokenSecret: ",
		"db.password.prod: ", "app.secret.prod: ", "secrets.stripe: ", "Smtp.Password.Main: ", "password.new: ", "api_key.live: ", "PasswordNew: ", "PasswordSha256: ",
		"DbPasswordProd: ", "SecretV2: ", "SecretPhrase: ", "ApiKeyLive: ", "PrivateKeyPem: ", "CredentialsBlob: ", "AuthBearer: ", "AuthCookie: ",
		"AuthPassword: ", "password:admin:", "credentials:admin:", "set `password='", "#token='", "<b>password:", "private_key:0x4c0883a69102937d6231471b",
	} {
		logs := plog.NewLogs()
		body := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body()
		body.SetStr("loaded " + before + secret)
		newDefault(t).Logs(logs)
		assert.NotContains(t, body.Str(), secret)
	}
}

func TestKnownPlacesOfIPs(t *testing.T) {
	got, counts := after(t, newDefault(t), map[string]any{"client.address": "anything", "user.ip_address": "::1", "a": "b"})
	assert.Equal(t, map[string]any{"a": "b"}, got)
	assert.Equal(t, Counts{"@ip:remove": 2}, counts)
}

// TestFrames: only local variables of frames lose whole values.
func TestFrames(t *testing.T) {
	got, _ := after(t, newDefault(t), map[string]any{"sentry.exceptions": []any{map[string]any{
		"type": "AuthError", "value": "token=abc is bad",
		"mechanism": map[string]any{"type": "auth", "data": map[string]any{"password": "x"}},
		"stacktrace": map[string]any{"frames": []any{map[string]any{
			"function": "auth", "filename": "auth/token.py", "module": "auth.token", "context_line": `login(password="hunter2", token=t)`,
			"vars": map[string]any{"password": "x", "n": int64(1), "headers": []any{[]any{"Cookie", "a=b"}}},
		}}},
	}}})
	assert.Equal(t, map[string]any{"sentry.exceptions": []any{map[string]any{
		"type": "AuthError", "value": "token=[Filtered] is bad",
		"mechanism": map[string]any{"type": "auth", "data": map[string]any{"password": Filtered}},
		"stacktrace": map[string]any{"frames": []any{map[string]any{
			"function": "auth", "filename": "auth/token.py", "module": "auth.token", "context_line": `login(password="[Filtered]", token=t)`,
			"vars": map[string]any{"password": Filtered, "n": int64(1), "headers": []any{[]any{"Cookie", Filtered}}},
		}}},
	}}}, got)
}

// TestStackOfMessage: the stack of a message is scrubbed like that of an exception.
func TestStackOfMessage(t *testing.T) {
	got, _ := after(t, newDefault(t), map[string]any{
		"sentry.stacktrace": map[string]any{"frames": []any{map[string]any{"function": "auth", "context_line": `login(password="hunter2")`, "vars": map[string]any{"password": "x"}}}},
		"code.stacktrace":   "at auth(cart.php:3)\nat login(password=hunter2)",
	})
	assert.Equal(t, map[string]any{
		"sentry.stacktrace": map[string]any{"frames": []any{map[string]any{"function": "auth", "context_line": `login(password="[Filtered]")`, "vars": map[string]any{"password": Filtered}}}},
		"code.stacktrace":   "at auth(cart.php:3)\nat login(password=[Filtered])",
	}, got)
}

func TestLogBody(t *testing.T) {
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	records.AppendEmpty().Body().SetStr("authors of a@b.com: password=x, 10.0.0.1, 4111111111111111")
	require.NoError(t, records.AppendEmpty().Body().FromRaw(map[string]any{"password": "x", "a": "b"}))
	counts := newDefault(t).Logs(logs)
	assert.Equal(t, "authors of [email]: password=[Filtered], 10.0.0.1, [creditcard]", records.At(0).Body().Str())
	assert.Equal(t, map[string]any{"password": Filtered, "a": "b"}, records.At(1).Body().AsRaw())
	assert.Equal(t, Counts{"@email:replace": 1, "@creditcard:replace": 1, ruleAssignment: 1, "@password:filter": 1}, counts)
}

// TestAdvancedRules: the settings of a project, pasted.
func TestAdvancedRules(t *testing.T) {
	c := DefaultConfig()
	c.SafeFields, c.SensitiveFields = []string{"author", "extra.*.auth"}, []string{"sku"}
	c.PIIConfig = `{
		"rules": {
			"0": {"type": "pattern", "pattern": "cust-(\\d+)", "replaceGroups": [1], "redaction": {"method": "mask"}},
			"1": {"type": "redact_pair", "keyPattern": "internal", "redaction": {"method": "remove"}}},
		"applications": {
			"$string && !'url.full'": ["0"],
			"**": ["1"],
			"$user.name || $http.headers.x-tenant": ["@anything:hash"],
			"extra.order.mac": ["@mac"]}}`
	s, err := New(c)
	require.NoError(t, err)
	got, counts := after(t, s, map[string]any{
		"note": "cust-42", "url.full": "/cust-42", "internal.id": int64(7), "user.name": "jane", "author": "me", "mysku": "x",
		"http.request.header.x-tenant": "acme",
		"sentry.extra":                 map[string]any{"order": map[string]any{"mac": "4a:00:04:10:9b:50", "auth": "kept", "authx": "y"}},
	})
	assert.Equal(t, map[string]any{
		"note": "cust-**", "url.full": "/cust-42", "user.name": got["user.name"], "author": "me", "mysku": Filtered,
		"http.request.header.x-tenant": got["http.request.header.x-tenant"],
		"sentry.extra":                 map[string]any{"order": map[string]any{"mac": "*****************", "auth": "kept", "authx": Filtered}},
	}, got)
	assert.Regexp(t, "^[0-9A-F]{40}$", got["user.name"])
	assert.Regexp(t, "^[0-9A-F]{40}$", got["http.request.header.x-tenant"])
	assert.Equal(t, Counts{"0": 1, "1": 1, "@anything:hash": 2, "@mac": 1, "strip-fields": 1, "@password:filter": 1}, counts)
}

func TestOptions(t *testing.T) {
	c := DefaultConfig()
	c.SQLLiterals, c.UserPaths = true, true
	s, err := New(c)
	require.NoError(t, err)
	got, _ := after(t, s, map[string]any{"db.query.text": "SELECT a1 FROM t WHERE b = 'x''y' AND c IN (1, 2.5) AND d = $1", "code.file.path": "/home/jane/a.py"})
	assert.Equal(t, map[string]any{"db.query.text": "SELECT a1 FROM t WHERE b = ? AND c IN (?, ?) AND d = $1", "code.file.path": "/home/[user]/a.py"}, got)

	var off Config
	require.NoError(t, off.UnmarshalText([]byte("off")))
	s, err = New(off)
	require.NoError(t, err)
	assert.Nil(t, s)
	got, counts := after(t, s, map[string]any{"password": "x"})
	assert.Equal(t, map[string]any{"password": "x"}, got)
	assert.Empty(t, counts)
}

// TestConfigErrors: each error names the key and the fix.
func TestConfigErrors(t *testing.T) {
	var c Config
	assert.ErrorContains(t, c.UnmarshalText([]byte("on")), `"on"`)
	for written, want := range map[any]string{
		`{"applications":{"$strin":["@ip"]}}`:                                             `pii_config: applications: "$strin"`,
		`{"applications":{"a.**.b.**":["@ip"]}}`:                                          `applications: "a.**.b.**"`,
		`{"applications":{"*":["@ip"]}}`:                                                  `applications: "*"`,
		`{"applications":{"(a":["@ip"]}}`:                                                 `applications: "(a"`,
		`{"applications":{"a":["@ipp"]}}`:                                                 `"@ipp"`,
		`{"applications":{"a":["r"]},"rules":{"r":{"type":"pattern","pattern":"(?=a)"}}}`: "rules: r: pattern: ",
		`{"applications":[]}`:                                                             "pii_config: ",
		7:                                                                                 "pii_config: ",
	} {
		c := Config{PIIConfig: written}
		assert.ErrorContains(t, c.Validate(), want)
	}
}

// TestTriggersMissNothing: a pattern never matches a text without its triggers, and the automaton
// finds what the regular expression of the password rule matches.
func TestTriggersMissNothing(t *testing.T) {
	t.Parallel()
	n := 10_000
	if !testsize.Full() {
		n = 3000
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range n {
		text := text(random)
		found := scan(text)
		for _, patterns := range typePatterns {
			for _, p := range patterns {
				matches, _ := p.all(text)
				if len(matches) > 0 && !p.possible(found, text) {
					require.Fail(t, "a match without its triggers", "%q %v", text, p.regexp)
				}
			}
		}
		require.Equal(t, passwordRegexp.MatchString(text), sensitiveText(text, found), "%q", text)
		require.Equal(t, passwordRegexp.MatchString(text) || tokenRegexp.MatchString(text), sensitiveKey(text), "%q", text)
	}
}

// TestHostile: deep and long values end up replaced rather than unchecked, and repetitive ones
// cause no panic. TestCostOfNearMisses checks that they need linear time.
func TestHostile(t *testing.T) {
	deep := any("password=x")
	for range 3 * maxDepth {
		deep = []any{deep}
	}
	s := newDefault(t)
	got, counts := after(t, s, map[string]any{"deep": deep, "long": strings.Repeat("a", maxText+1)})
	assert.Equal(t, Filtered, got["long"])
	assert.NotContains(t, fmt.Sprint(got), "password")
	assert.Equal(t, Counts{ruleDepth: 1, ruleSize: 1}, counts)

	for _, unit := range []string{"token", "auth=", `"token":{`, "1.1.1.", "1-", "4111 ", "::", "-----BEGIN A KEY", "//a:b", "password='", "DE12", "a@a.", "bearer "} {
		value := strings.Repeat(unit, maxText/64/len(unit))
		_, _ = after(t, s, map[string]any{"a": value, "exception.message": value, "url.full": value, "gen_ai.prompt": value})
	}
}

// TestHostilePattern: a configured pattern reads the rest of a text for each of its matches. There
// is a limit; behind it, the whole text is replaced.
func TestHostilePattern(t *testing.T) {
	t.Parallel()
	n := 1 << 20
	if !testsize.Full() {
		n = 1 << 16
	}
	s, err := New(Config{PIIConfig: `{"applications":{"$string":["r"]},"rules":{"r":{"type":"pattern","pattern":"x*y|x","redaction":{"method":"mask"}}}}`})
	require.NoError(t, err)
	got, counts := after(t, s, map[string]any{"short": "axb", "long": strings.Repeat("x", n) + "z"})
	assert.Equal(t, map[string]any{"short": "a*b", "long": strings.Repeat("*", n+1)}, got)
	assert.Equal(t, Counts{"r": 2}, counts)
}

// FuzzScrub: nothing panics, the result is bounded by the input, a second pass changes nothing, and
// the search for triggers hides no match.
func FuzzScrub(f *testing.F) {
	for _, piece := range pieces {
		f.Add("a", piece+" "+piece)
	}
	for _, text := range repeated {
		f.Add("exception.message", text+text)
	}
	f.Add("url.full", "https://u:p@h/?token=a&b=[1]")
	f.Add("exception.message", `"password": {"a": "b`)
	s := newDefault(f)
	f.Fuzz(func(t *testing.T, key, value string) {
		clean, counts, ok := scrubOne(s, key, value)
		if !ok {
			return
		}
		require.LessOrEqual(t, len(clean), (len(value)+1)*len(Filtered))
		if len(counts) == 0 {
			require.Equal(t, value, clean)
		}
		for _, set := range []*ruleset{&s.full, &s.form, &s.url, &s.query, &s.text, &s.message, &s.code} {
			require.Equal(t, slowly(s, value, set, key), s.walk("span").plain(value, set, key))
		}
		if len(findIPv6(clean)) > 0 {
			return // as in Relay: an address without a delimiter of its own stays
		}
		again, _, _ := scrubOne(s, key, clean)
		require.Equal(t, clean, again)
	})
}

func scrubOne(s *Scrubber, key, value string) (clean string, counts Counts, ok bool) {
	attributes := pcommon.NewMap()
	attributes.PutStr(key, value)
	w := s.walk("span")
	w.attributes(attributes)
	v, ok := attributes.Get(key)
	if !ok {
		return "", nil, false
	}
	return v.AsString(), w.counts, true
}

var cookieRegexp = regexp.MustCompile(`(?i:cookie)`)

// slowly is plain without triggers: it runs the expression of every pattern on every text.
func slowly(s *Scrubber, text string, set *ruleset, key string) string {
	if isHarmlessText(text) {
		return text
	}
	t := redacted{text: strings.ReplaceAll(text, nul, "")}
	if set.suits != nil && !set.suits(text) && passwordRegexp.MatchString(t.text) {
		return Filtered
	}
	for _, r := range set.rules {
		for _, p := range r.patterns {
			if p == &ipv6Pattern {
				p = &pattern{regexp: ipv6Regexp, groups: p.groups}
			}
			t.replace(&pattern{regexp: p.regexp, groups: p.groups, notFraction: p.notFraction}, r.by)
		}
		if r.password && passwordRegexp.MatchString(t.text) {
			t.replaceAll(r.by)
		}
	}
	if set.parameters && strings.Contains(t.text, "=") {
		t.parameters()
	}
	if set.assigns || set.cookies && cookieRegexp.MatchString(t.text) {
		t.assignments(set.syntax, statementIn(pcommon.Map{}, key, t.text))
	}
	if set.literals && passwordRegexp.MatchString(t.text) {
		t.replaceSpans((&statement{}).literalSpans(t.text))
	}
	if set.cookies && isCookies(key) {
		t.replace(&cookiesPattern, replaceBy(Filtered))
	}
	if len(t.marks) == 0 {
		return text
	}
	return t.String()
}

// FuzzSelector: no text makes the parser panic.
func FuzzSelector(f *testing.F) {
	f.Add("($string || a.*.'b''c') && !**.d && ~e.0")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSelector(text); err == nil {
			s.matches([]path{{elements: []element{named("a"), named("b", "string")}}})
		}
	})
}
