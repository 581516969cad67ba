// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

func TestParseDSN(t *testing.T) {
	tests := []struct {
		name     string
		text     string
		want     DSN
		envelope string
	}{
		{"sentry.io", "https://8f3d1c0a9b7e4d52a1c6f0e3b2d49871@o4505.ingest.us.sentry.io/4507",
			DSN{Scheme: "https", PublicKey: "8f3d1c0a9b7e4d52a1c6f0e3b2d49871", Host: "o4505.ingest.us.sentry.io", ProjectID: "4507"},
			"https://o4505.ingest.us.sentry.io/api/4507/envelope/"},
		{"self-made", "http://public@localhost:4319/1",
			DSN{Scheme: "http", PublicKey: "public", Host: "localhost:4319", ProjectID: "1"},
			"http://localhost:4319/api/1/envelope/"},
		{"secret", "http://8f3d:s%3Acret@127.0.0.1:9000/42",
			DSN{Scheme: "http", PublicKey: "8f3d", Secret: "s:cret", Host: "127.0.0.1:9000", ProjectID: "42"},
			"http://127.0.0.1:9000/api/42/envelope/"},
		{"empty secret", "https://e12d836b15bb49d7bbf99e64295d995b:@sentry.io/42",
			DSN{Scheme: "https", PublicKey: "e12d836b15bb49d7bbf99e64295d995b", Host: "sentry.io", ProjectID: "42"},
			"https://sentry.io/api/42/envelope/"},
		{"path prefix", "https://abc@example.com/apps/sentry%20in/42",
			DSN{Scheme: "https", PublicKey: "abc", Host: "example.com", Path: "/apps/sentry%20in", ProjectID: "42"},
			"https://example.com/apps/sentry%20in/api/42/envelope/"},
		{"IPv6", "http://abc@[::1]:4319/42",
			DSN{Scheme: "http", PublicKey: "abc", Host: "[::1]:4319", ProjectID: "42"},
			"http://[::1]:4319/api/42/envelope/"},
		{"untidy", "  HTTPS://a_b-C9@Example.com:/x//0042/?timeout=5#f \n",
			DSN{Scheme: "https", PublicKey: "a_b-C9", Host: "Example.com", Path: "/x", ProjectID: "42"},
			"https://Example.com/x/api/42/envelope/"},
		{"largest project", "http://a@b/18446744073709551615",
			DSN{Scheme: "http", PublicKey: "a", Host: "b", ProjectID: "18446744073709551615"},
			"http://b/api/18446744073709551615/envelope/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dsn, err := ParseDSN(test.text)
			require.NoError(t, err)
			assert.Equal(t, test.want, dsn)
			assert.Equal(t, test.envelope, dsn.EnvelopeURL())

			again, err := ParseDSN(dsn.String())
			require.NoError(t, err)
			test.want.Secret = ""
			assert.Equal(t, test.want, again, "String is the DSN without its secret")
		})
	}
}

func TestParseDSNRefuses(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		reason discard.Reason
	}{
		{"nothing", "", ReasonDSNInvalid},
		{"text", "hello", ReasonDSNInvalid},
		{"no URL", "http://a b@c/1", ReasonDSNInvalid},
		{"control character", "http://hunter2\x00@host/1", ReasonDSNInvalid},
		{"other scheme", "ftp://abc@host/1", ReasonDSNInvalid},
		{"no host", "http://abc@/1", ReasonDSNInvalid},
		{"IPv6 zone", "http://abc@[fe80::1%25eth0]/1", ReasonDSNInvalid},
		{"IPv6 zone that is none", "http://0@[::%25\x9b]:/0", ReasonDSNInvalid},
		{"no key", "http://host/1", ReasonDSNBadKey},
		{"empty key", "http://:hunter2@host/1", ReasonDSNBadKey},
		{"key that is none", "http://a%20b:hunter2@host/1", ReasonDSNBadKey},
		{"long key", "http://" + strings.Repeat("a", MaxKeyBytes+1) + "@host/1", ReasonDSNBadKey},
		{"no project", "http://abc@host", ReasonDSNBadProject},
		{"no project after the slash", "http://abc@host/", ReasonDSNBadProject},
		{"project by name", "http://abc@host/shop", ReasonDSNBadProject},
		{"negative project", "http://abc@host/-1", ReasonDSNBadProject},
		{"project beyond 64 bits", "http://abc@host/18446744073709551616", ReasonDSNBadProject},
		{"escaped slashes, which JSON would have unescaped", `http:\/\/abc@host\/1`, ReasonDSNInvalid},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dsn, err := ParseDSN(test.text)
			var bad *DSNError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, test.reason, bad.Reason, bad)
			assert.Zero(t, dsn)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func FuzzParseDSN(f *testing.F) {
	for _, text := range []string{
		"", "https://8f3d1c0a9b7e4d52a1c6f0e3b2d49871@o4505.ingest.us.sentry.io/4507", "http://public:secret@localhost:4319/a/b/1",
		"http://a@[fe80::1%25eth0]:1/2", "http://a@h:/x//0042/?q#f", "http://a@h/%2f/1", "http://a@h%c3%a9/1", "http:a@h/1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dsn, err := ParseDSN(text)
		if err != nil {
			var bad *DSNError
			require.ErrorAs(t, err, &bad)
			require.Less(t, len(err.Error()), 300)
			return
		}
		require.True(t, ValidKey(dsn.PublicKey))
		again, err := ParseDSN(dsn.String())
		require.NoError(t, err, "%q from %q", dsn.String(), text)
		dsn.Secret = ""
		require.Equal(t, dsn, again)

		u, err := url.Parse(dsn.EnvelopeURL())
		require.NoError(t, err)
		require.Nil(t, u.User)
		require.Equal(t, dsn.Host, u.Host)
		require.Equal(t, dsn.Path+"/api/"+dsn.ProjectID+"/envelope/", u.EscapedPath())
	})
}
