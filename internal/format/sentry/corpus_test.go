// SPDX-License-Identifier: Apache-2.0

package sentry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// corpusKey is the public key of the recorded requests.
const corpusKey = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"

// Every recorded envelope is framed, names its sender, and survives being written and read again.
func TestRecordedEnvelopes(t *testing.T) {
	envelopes, items := 0, 0
	for _, r := range golden.Corpus(t) {
		if r.EnvelopeKeys == nil {
			continue // store and security endpoints
		}
		envelopes++
		e, err := sentry.ReadEnvelope(r.Decoded(t))
		require.NoError(t, err, r.Name)

		var types []string
		for _, item := range e.Items {
			types = append(types, string(item.Header.Type))
			assert.True(t, item.Header.Type.Known(), "%s: %s", r.Name, item.Header.Type)
			assert.NotEmpty(t, item.Payload, r.Name)
		}
		assert.Equal(t, r.Items, types, r.Name)
		items += len(types)

		h := e.Header
		for key, read := range map[string]bool{
			"event_id": h.EventID != "", "dsn": h.DSN != "", "sdk": h.SDK.Name != "" && h.SDK.Version != "",
			"sent_at": !h.SentAt.IsZero(), "trace": h.Trace != nil && h.Trace.TraceID != "" && h.Trace.PublicKey != "",
		} {
			assert.Equal(t, slices.Contains(r.EnvelopeKeys, key), read, "%s: %s", r.Name, key)
		}

		auth, err := sentry.Authenticate(credentials(r, h.DSN))
		require.NoError(t, err, r.Name)
		assert.Equal(t, corpusKey, auth.PublicKey, r.Name)
		assert.Equal(t, "4507", auth.ProjectID, r.Name)

		written, err := sentry.AppendEnvelope(nil, e)
		require.NoError(t, err, r.Name)
		again, err := sentry.ReadEnvelope(written)
		require.NoError(t, err, r.Name)
		require.Equal(t, e, again, r.Name)
	}
	t.Logf("%d envelopes, %d items", envelopes, items)
}

// credentials are those of the request, and of the envelope's header.
func credentials(r golden.Request, dsn string) sentry.Credentials {
	c := sentry.Credentials{
		SentryAuth: r.Header("X-Sentry-Auth"), Authorization: r.Header("Authorization"),
		RawQuery: strings.TrimPrefix(r.Query, "?"), EnvelopeDSN: dsn,
	}
	if path, ok := strings.CutPrefix(r.Path, "/api/"); ok {
		c.ProjectID, _, _ = strings.Cut(path, "/")
	}
	return c
}

// Everything that was not sent through a tunnel, and not by a browser itself (security reports),
// says who sent it in the request.
func TestRecordedCredentials(t *testing.T) {
	for _, r := range golden.Corpus(t) {
		auth, err := sentry.Authenticate(credentials(r, ""))
		if r.Path == "/tunnel" {
			var bad *sentry.AuthError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, sentry.ReasonAuthMissing, bad.Reason, r.Name)
			continue
		}
		require.NoError(t, err, r.Name)
		assert.Equal(t, corpusKey, auth.PublicKey, r.Name)
		assert.Equal(t, "4507", auth.ProjectID, r.Name)
		if !strings.HasPrefix(r.Path, "/api/4507/security") {
			assert.Contains(t, auth.Client, "/", r.Name)
		}
	}
}
