// SPDX-License-Identifier: Apache-2.0

package mapping

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	testKey  = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"
	theirKey = "ffffffffffffffffffffffffffffffff"
	theirDSN = "https://" + theirKey + "@sentry.example/x/99"
)

func TestMapping(t *testing.T) {
	d := NewDestinations(map[string]string{"4507": theirDSN}, "").Of("4507")
	require.NotNil(t, d)
	for ours, theirs := range map[string]string{
		"/api/4507/envelope/":    "/api/99/envelope/",
		"/api/4507/envelope":     "/api/99/envelope",
		"//api//4507/envelope/?": "//api//99/envelope/?",
		"/api/4507/envelope/?sentry_version=7&sentry_key=" + testKey + "&sentry_client=a%2Fb": "/api/99/envelope/?sentry_version=7&sentry_key=" + theirKey + "&sentry_client=a%2Fb",
		"/api/4507/envelope/?sentry_key=" + testKey + ":no-cache":                             "/api/99/envelope/?sentry_key=" + theirKey + ":no-cache",
		"/api/4507/cron/job%20a/" + testKey + "/?status=ok":                                   "/api/99/cron/job%20a/" + theirKey + "/?status=ok",
		"/api/4507/cron/4507/":                 "/api/99/cron/4507/",
		"/api/4507/unreal/" + testKey + "/":    "/api/99/unreal/" + theirKey + "/",
		"/api/4507/integration/otlp/v1/traces": "/api/99/integration/otlp/v1/traces",
	} {
		assert.Equal(t, theirs, d.Target(ours, testKey))
	}
	for ours, theirs := range map[string]string{
		"Sentry sentry_version=7, sentry_key=" + testKey + ", sentry_client=a/1": "Sentry sentry_version=7, sentry_key=" + theirKey + ", sentry_client=a/1",
		"sentry sentry_key=" + testKey + ",sentry_version=7":                     "sentry sentry_key=" + theirKey + ",sentry_version=7",
		"Basic OGYzZDFjMGE5YjdlNGQ1MmExYzZmMGUzYjJkNDk4NzE6":                     "Basic ZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY6",
		"Basic bWU6c2VjcmV0": "Basic bWU6c2VjcmV0",
		"Bearer token":       "Bearer token",
	} {
		assert.Equal(t, theirs, d.mapCredentials(ours, testKey))
	}
	for theirs, ours := range map[string]string{
		"/x/api/99/upload/k1/?length=3&signature=a%2Fb":       "/in/api/4507/upload/k1/?length=3&signature=a%2Fb",
		"https://sentry.example/x/api/99/upload/k1/?length=3": "/in/api/4507/upload/k1/?length=3",
		"https://elsewhere.example/x/api/99/upload/":          "https://elsewhere.example/x/api/99/upload/",
		"https://sentry.example/other/":                       "https://sentry.example/other/",
	} {
		assert.Equal(t, ours, d.Back(theirs, "/in", "4507"))
	}
}
