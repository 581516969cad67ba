// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/scrub"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func attributeOf(e *dictionary.Editor, key string, raw any) dictionary.AttributeIndex {
	value := pcommon.NewValueEmpty()
	if err := value.FromRaw(raw); err != nil {
		panic(err)
	}
	return e.Attribute(key, value)
}

// The preset on paths as SDKs send them, and on what looks similar.
func TestScrubHome(t *testing.T) {
	for text, want := range map[string]string{
		"/home/alice/shop/app.py":                           "/home/user/shop/app.py",
		"/home/alice":                                       "/home/user",
		"/Users/alice/shop/App.swift":                       "/Users/user/shop/App.swift",
		"/Users/Alice Smith/shop/a.js":                      "/Users/user/shop/a.js",
		`C:\Users\alice\shop\a.cs`:                          `C:\Users\user\shop\a.cs`,
		`c:\users\Alice Smith`:                              `c:\users\user`,
		"C:/Users/alice/shop/a.js":                          "C:/Users/user/shop/a.js",
		`C:\Documents and Settings\alice\a.exe`:             `C:\Documents and Settings\user\a.exe`,
		`C:\\Users\\alice\\a.cs`:                            `C:\\Users\\user\\a.cs`,
		"file:///home/alice/shop/server.mjs":                "file:///home/user/shop/server.mjs",
		"file:///C:/Users/alice/a.js":                       "file:///C:/Users/user/a.js",
		"webpack:///Users/alice/a.js":                       "webpack:///Users/user/a.js",
		"/home/alice/.venv/lib/<frozen importlib._boot>":    "/home/user/.venv/lib/<frozen importlib._boot>",
		"jar:file:/home/alice/x.jar!/a/B.class":             "jar:file:/home/user/x.jar!/a/B.class",
		"/mnt/c/Users/alice/a.py":                           "/mnt/c/Users/user/a.py",
		"/var/home/alice/a.py":                              "/var/home/user/a.py",
		"/nix/var/nix/profiles/per-user/alice/bin":          "/nix/var/nix/profiles/per-user/user/bin",
		"/home/alice/a:/home/bob/b":                         "/home/user/a:/home/user/b",
		"load '/home/alice'":                                "load '/home/user'",
		"/app/home.py":                                      "/app/home.py",
		"/usr/lib/python3/users.py":                         "/usr/lib/python3/users.py",
		"node:internal/process/task_queues":                 "node:internal/process/task_queues",
		"/opt/homebrew/lib/a.rb":                            "/opt/homebrew/lib/a.rb",
		"GC Thread#0":                                       "GC Thread#0",
		"":                                                  "",
		"/home//alice//a.py":                                "/home//user//a.py",
		"/builds/alice/shop":                                "/builds/alice/shop", // no home: a rule's business
		"https://shop.example/assets/users-3f2a.js":         "https://shop.example/assets/users-3f2a.js",
		"https://shop.example/home/news.js":                 "https://shop.example/home/user", // the safe mistake
		"/root/app.py":                                      "/root/app.py",
		"/home/alice/go/pkg/mod/github.com/x/y@v1/users.go": "/home/user/go/pkg/mod/github.com/x/y@v1/users.go",
	} {
		c := &scrubber{rules: homes, texts: map[string]string{}}
		require.Equal(t, want, c.text(text))
		require.Equal(t, want, c.text(want), "once more changes nothing")
	}
}

// A secret is in every place that a message has for text; afterwards it is in none.
func TestScrubReachesEverything(t *testing.T) {
	const secret = "/home/alice/"
	p := stackProfile([]namedFrame{{functions: secret + "f", file: secret + "a.php", module: secret, binary: secret + "lib"}})
	profile, e := firstProfile(p), dictionary.NewEditor(p.Dictionary())
	nested := map[string]any{"list": []any{map[string]any{"path": secret, "user.name": "alice"}}}
	dictionary.SetAttributes(profile.AttributeIndices(), attributeOf(e, "images", nested), attributeOf(e, "user.id", int64(42)))
	dictionary.SetAttributes(profile.Samples().At(0).AttributeIndices(), attributeOf(e, semconv.ThreadName, "watch "+secret))
	p.Dictionary().FunctionTable().At(1).SetSystemNameStrindex(int32(e.String(secret + "s")))
	p.Dictionary().MappingTable().At(1).AttributeIndices().Append(int32(attributeOf(e, "sentry.image.debug_file", secret)))
	resource := p.ResourceProfiles().At(0)
	require.NoError(t, resource.Resource().Attributes().PutEmpty("process.command_args").FromRaw([]any{secret}))
	resource.Resource().Attributes().PutStr("process.owner", "alice")
	resource.ScopeProfiles().At(0).Scope().Attributes().PutStr("path", secret)
	profile.SetOriginalPayloadFormat("sentry")
	profile.OriginalPayload().FromRaw([]byte(secret))

	Apply(p, []Step{&Scrub{Preset: PresetHome}})
	p.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(t, err)
	require.NotContains(t, string(encoded), "alice")
	require.NotContains(t, dictionarytest.Dump(p), "42")
	require.Contains(t, dictionarytest.Dump(p), "/home/user/a.php")
}

func TestScrubRulesInOrder(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: "f", file: "/srv/acme-7/a.py"}})
	Apply(p, []Step{&Scrub{Rules: []ScrubRule{
		{regexp.MustCompile(`/acme-(\d)/`), "/customer-$1/"},
		{regexp.MustCompile(`customer-7`), "x"},
	}}})
	require.Contains(t, dictionarytest.Dump(p), "/srv/x/a.py")
}

// A file that is scrubbed to nothing leaves no function without a name behind.
func TestScrubToNothing(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: "f"}})
	p.Dictionary().FunctionTable().At(1).SetStartLine(3)
	Apply(p, []Step{&Scrub{Rules: []ScrubRule{{regexp.MustCompile(".*"), ""}}}})
	for _, violation := range conformance.Check(p) {
		require.NotEqual(t, conformance.RuleFunctionUnnamed, violation.Rule)
	}
}

// The rules of Sentry's default data scrubbing reach attributes of every record, and leave names of
// code.
func TestScrubSecrets(t *testing.T) {
	p := stackProfile([]namedFrame{{functions: "auth", file: "/srv/auth/token.py"}})
	profile, e := firstProfile(p), dictionary.NewEditor(p.Dictionary())
	dictionary.SetAttributes(profile.AttributeIndices(), attributeOf(e, "api_key", "hush"), attributeOf(e, "note", "postgres://u:hush@db/x"))
	dictionary.SetAttributes(profile.Samples().At(0).AttributeIndices(), attributeOf(e, "vars", map[string]any{"password": "hush"}))
	p.ResourceProfiles().At(0).Resource().Attributes().PutStr("token", "hush")

	Apply(p, []Step{&Scrub{Scrubbing: scrub.DefaultConfig()}})
	text := dictionarytest.Dump(p)
	require.NotContains(t, text, "hush")
	require.Contains(t, text, "/srv/auth/token.py")
	require.Contains(t, text, "postgres://u:[Filtered]@db/x")
	require.Empty(t, conformance.Check(p))
}
