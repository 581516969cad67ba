// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

const testKey = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"

func basicAuth(credentials string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
}

func TestAuthenticate(t *testing.T) {
	key := func(client, version string) Auth { return Auth{PublicKey: testKey, Version: version, Client: client} }
	tests := []struct {
		name string
		c    Credentials
		want Auth
	}{
		// As recorded.
		{"python", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_version=7, sentry_client=sentry.python/2.68.0"},
			key("sentry.python/2.68.0", "7")},
		{"go", Credentials{SentryAuth: "Sentry sentry_version=7, sentry_client=sentry.go.http/0.50.0, sentry_key=" + testKey},
			key("sentry.go.http/0.50.0", "7")},
		{"java leaves no blanks", Credentials{SentryAuth: "Sentry sentry_version=7,sentry_client=sentry.java/8.53.0,sentry_key=" + testKey},
			key("sentry.java/8.53.0", "7")},
		{"ruby has a timestamp",
			Credentials{SentryAuth: "Sentry sentry_version=7, sentry_timestamp=1795224150, sentry_key=" + testKey + ", sentry_client=sentry-ruby/6.6.2"},
			key("sentry-ruby/6.6.2", "7")},
		{"raven speaks version 5", Credentials{SentryAuth: "Sentry sentry_version=5, sentry_client=raven-ruby/3.1.2, sentry_key=" + testKey},
			key("raven-ruby/3.1.2", "5")},
		{"node", Credentials{RawQuery: "sentry_version=7&sentry_key=" + testKey + "&sentry_client=sentry.javascript.node%2F10.75.3"},
			key("sentry.javascript.node/10.75.3", "7")},
		{"tunnel", Credentials{EnvelopeDSN: "http://" + testKey + "@127.0.0.1:58733/4507"},
			Auth{PublicKey: testKey, ProjectID: "4507", Version: "7"}},
		{"php says it twice",
			Credentials{
				SentryAuth: "Sentry sentry_version=7, sentry_client=sentry.php/4.29.0, sentry_key=" + testKey, ProjectID: "4507",
				EnvelopeDSN: "http://" + testKey + "@127.0.0.1:58733/4507",
			},
			Auth{PublicKey: testKey, ProjectID: "4507", Version: "7", Client: "sentry.php/4.29.0"}},

		// Variants of the header.
		{"key only", Credentials{SentryAuth: "Sentry sentry_key=" + testKey}, key("", "7")},
		{"prefix in lower case", Credentials{SentryAuth: "sentry sentry_key=" + testKey}, key("", "7")},
		{"prefix in upper case", Credentials{SentryAuth: "SENTRY sentry_key=" + testKey}, key("", "7")},
		{"much white space", Credentials{SentryAuth: " Sentry \t sentry_key = " + testKey + " ,\tsentry_version = 7 , "}, key("", "7")},
		{"flags on the key", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ":no-cache:x, sentry_version=7"}, key("", "7")},
		{"version with a fraction", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_version=2.0"}, key("", "2")},
		{"empty version", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_version="}, key("", "7")},
		{"unknown keys, no values, legacy secret",
			Credentials{SentryAuth: "Sentry x=1, y, =, sentry_secret=hunter2, sentry_key=" + testKey + ",,"}, key("", "7")},
		{"client with an equals sign", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_client=a=b"}, key("a=b", "7")},
		{"key twice, the same", Credentials{SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_key=" + testKey}, key("", "7")},
		{"self-made key", Credentials{SentryAuth: "Sentry sentry_key=public"}, Auth{PublicKey: "public", Version: "7"}},

		// Other places.
		{"Authorization", Credentials{Authorization: "Sentry sentry_key=" + testKey + ", sentry_client=x/1"}, key("x/1", "7")},
		{"Basic", Credentials{Authorization: basicAuth(testKey + ":")}, key("", "7")},
		{"Basic with a password", Credentials{Authorization: basicAuth(testKey + ":hunter2:x")}, key("", "7")},
		{"Basic without a colon, in lower case", Credentials{Authorization: strings.Replace(basicAuth(testKey), "Basic", "basic", 1)}, key("", "7")},
		{"Basic without padding", Credentials{Authorization: strings.TrimRight(basicAuth(testKey+":"), "=")}, key("", "7")},
		{"path", Credentials{PathKey: testKey}, key("", "7")},
		{"query among others", Credentials{RawQuery: "a=%zz&sentry_key=" + testKey + "&;&sentry_client=a+b"}, key("a b", "7")},
		{"query with an escaped key", Credentials{RawQuery: "sentry_key=a%2Db"}, Auth{PublicKey: "a-b", Version: "7"}},
		{"project of the path", Credentials{PathKey: testKey, ProjectID: "0042"}, Auth{PublicKey: testKey, ProjectID: "42", Version: "7"}},

		// Several places.
		{"same key everywhere: what one leaves out, another may say",
			Credentials{
				SentryAuth: "Sentry sentry_key=" + testKey, Authorization: basicAuth(testKey + ":"), PathKey: testKey,
				RawQuery: "sentry_key=" + testKey + "&sentry_version=6&sentry_client=late/1",
			}, key("late/1", "6")},
		{"the first one wins",
			Credentials{
				SentryAuth: "Sentry sentry_key=" + testKey + ", sentry_client=first/1",
				RawQuery:   "sentry_key=" + testKey + "&sentry_client=second/1",
			}, key("first/1", "7")},
		{"places that say nothing",
			Credentials{
				SentryAuth: "Bearer abc", Authorization: "Bearer sentry_key=x", RawQuery: "sentry_version=99",
				EnvelopeDSN: "http://" + testKey + "@h/1",
			}, Auth{PublicKey: testKey, ProjectID: "1", Version: "7"}},
		{"somebody else's Basic", Credentials{Authorization: "Basic !!!", RawQuery: "sentry_key=" + testKey}, key("", "7")},
		{"unusable dsn beside a key", Credentials{SentryAuth: "Sentry sentry_key=" + testKey, EnvelopeDSN: "nonsense"}, key("", "7")},
		{"dsn with zeros before the project",
			Credentials{SentryAuth: "Sentry sentry_key=" + testKey, ProjectID: "42", EnvelopeDSN: "http://" + testKey + "@h/042"},
			Auth{PublicKey: testKey, ProjectID: "42", Version: "7"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			auth, err := Authenticate(test.c)
			require.NoError(t, err)
			assert.Equal(t, test.want, auth)

			again, err := Authenticate(Credentials{SentryAuth: auth.Header(), ProjectID: auth.ProjectID})
			require.NoError(t, err)
			assert.Equal(t, auth, again, "Header is the inverse")
		})
	}
}

func TestClientText(t *testing.T) {
	for want, sdk := range map[string]ClientSDK{
		"sentry.python/2.75.0": {Name: "sentry.python", Version: "2.75.0"}, "sentry.python": {Name: "sentry.python"}, "": {},
	} {
		assert.Equal(t, want, ClientText(sdk))
	}
	for _, name := range []string{"a,sentry_key=b", "a b", "a\r\nb", "a\"", "ä", "a\x7f"} {
		assert.Empty(t, ClientText(ClientSDK{Name: name, Version: "1"}), name)
	}
}

func TestAuthenticateRefuses(t *testing.T) {
	const good = "Sentry sentry_key=" + testKey
	tests := []struct {
		name   string
		c      Credentials
		reason discard.Reason
	}{
		{"nothing", Credentials{}, ReasonAuthMissing},
		{"project only", Credentials{ProjectID: "1"}, ReasonAuthMissing},
		{"header without prefix", Credentials{SentryAuth: "sentry_key=" + testKey}, ReasonAuthMissing},
		{"header with prefix only", Credentials{SentryAuth: "Sentry"}, ReasonAuthMissing},
		{"prefix of a longer word", Credentials{SentryAuth: "Sentryx sentry_key=" + testKey}, ReasonAuthMissing},
		{"empty key", Credentials{SentryAuth: "Sentry sentry_key=, sentry_version=7"}, ReasonAuthMissing},
		{"flags without key", Credentials{SentryAuth: "Sentry sentry_key=:no-cache"}, ReasonAuthMissing},
		{"other query", Credentials{RawQuery: "key=" + testKey}, ReasonAuthMissing},

		{"key with odd characters", Credentials{SentryAuth: "Sentry sentry_key=a b"}, ReasonAuthBadKey},
		{"key too long", Credentials{RawQuery: "sentry_key=" + strings.Repeat("a", MaxKeyBytes+1)}, ReasonAuthBadKey},
		{"Basic user that is no key", Credentials{Authorization: basicAuth("alice@example.com:hunter2")}, ReasonAuthBadKey},
		{"path that is no key", Credentials{PathKey: "a.b"}, ReasonAuthBadKey},

		{"version 8", Credentials{SentryAuth: good + ", sentry_version=8"}, ReasonAuthBadVersion},
		{"version beyond numbers", Credentials{SentryAuth: good + ", sentry_version=99999999999999999999"}, ReasonAuthBadVersion},
		{"version that is none", Credentials{RawQuery: "sentry_key=a&sentry_version=v7"}, ReasonAuthBadVersion},
		{"version negative", Credentials{RawQuery: "sentry_key=a&sentry_version=-7"}, ReasonAuthBadVersion},

		{"two keys in the header", Credentials{SentryAuth: good + ", sentry_key=other"}, ReasonAuthMultiple},
		{"two keys in the query", Credentials{RawQuery: "sentry_key=a&sentry_key=b"}, ReasonAuthMultiple},
		{"header and Authorization", Credentials{SentryAuth: good, Authorization: "Sentry sentry_key=other"}, ReasonAuthMultiple},
		{"header and Basic", Credentials{SentryAuth: good, Authorization: basicAuth("other:hunter2")}, ReasonAuthMultiple},
		{"header and query", Credentials{SentryAuth: good, RawQuery: "sentry_key=other"}, ReasonAuthMultiple},
		{"query and path", Credentials{RawQuery: "sentry_key=a", PathKey: "b"}, ReasonAuthMultiple},
		{"keys that differ in case", Credentials{RawQuery: "sentry_key=a", PathKey: "A"}, ReasonAuthMultiple},

		{"bad dsn", Credentials{EnvelopeDSN: "nonsense"}, ReasonAuthBadEnvelopeDSN},
		{"dsn without a key", Credentials{EnvelopeDSN: "http://host/1"}, ReasonAuthBadEnvelopeDSN},
		{"dsn of another key", Credentials{SentryAuth: good, EnvelopeDSN: "http://other:hunter2@host/1"}, ReasonAuthMismatch},
		{"dsn of another project", Credentials{SentryAuth: good, ProjectID: "2", EnvelopeDSN: "http://" + testKey + "@host/1"}, ReasonAuthMismatch},
		{"dsn alone, of another project", Credentials{ProjectID: "2", EnvelopeDSN: "http://" + testKey + "@host/1"}, ReasonAuthMismatch},

		{"project that is none", Credentials{SentryAuth: good, ProjectID: "shop"}, ReasonAuthBadProject},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			auth, err := Authenticate(test.c)
			var bad *AuthError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, test.reason, bad.Reason, bad)
			assert.Zero(t, auth)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func FuzzAuth(f *testing.F) {
	f.Add("Sentry sentry_key="+testKey+", sentry_version=7, sentry_client=a/1", "", "", "", "4507", "")
	f.Add("", "Sentry sentry_key=a:b,sentry_version=2.0", "sentry_key=a", "a", "1", "http://a@h/1")
	f.Add("", basicAuth("a:b"), "sentry_key=%61&sentry_client=%2F", "", "", "")
	f.Add("sentry\t,=,sentry_key", "Basic =", "sentry_&&=&%", "", "0", "http://a:b@[::1]/x/1")
	f.Fuzz(func(t *testing.T, sentryAuth, authorization, query, pathKey, project, dsn string) {
		auth, err := Authenticate(Credentials{
			SentryAuth: sentryAuth, Authorization: authorization, RawQuery: query, PathKey: pathKey, ProjectID: project, EnvelopeDSN: dsn,
		})
		if err != nil {
			var bad *AuthError
			require.ErrorAs(t, err, &bad)
			require.Zero(t, auth)
			require.Less(t, len(err.Error()), 500)
			return
		}
		require.True(t, ValidKey(auth.PublicKey))
		require.Regexp(t, `^[0-7]$`, auth.Version)
		if auth.Client != strings.TrimSpace(auth.Client) || strings.Contains(auth.Client, ",") {
			return // a client that only a query can name
		}
		again, err := Authenticate(Credentials{SentryAuth: auth.Header(), ProjectID: auth.ProjectID})
		require.NoError(t, err)
		require.Equal(t, auth, again)
	})
}
