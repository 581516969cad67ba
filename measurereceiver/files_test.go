// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/config/configopaque"
)

// TestTokenSecret: the configured secret signs addresses; without one, each start has another.
func TestTokenSecret(t *testing.T) {
	secret := func(text string) string {
		return string(start(t, nopHost, func(c *Config) { c.Attachments.TokenSecret = configopaque.String(text) }).shared.secret)
	}
	assert.Equal(t, "secret", secret("secret"))
	first, second := secret(""), secret("")
	assert.Len(t, first, 32)
	assert.NotEqual(t, first, second)
	assert.Len(t, ticket{}.token([]byte(first)), 82, "16 bytes of it are the signature")
}

// TestPublicEndpoint: addresses for uploads are what apps reach, not what a proxy asks for.
func TestPublicEndpoint(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Attachments.Directory, c.PublicEndpoint = t.TempDir(), "https://rum.example.com/"
	})
	upload := androidUploads(t, h.events(batchID, goodBatch).text)[0]
	assert.Regexp(t, `^https://rum\.example\.com/attachments/`, upload.UploadURL)
}

// TestBuildRefusals: keys of apps are not enough where others are asked for, and no version names a
// folder above.
func TestBuildRefusals(t *testing.T) {
	h := start(t, nopHost, func(c *Config) {
		c.Builds.Enabled, c.Builds.Directory, c.Builds.APIKeys = true, t.TempDir(), []configopaque.String{otherKey}
	})
	build := func(key, version string) int {
		return h.send(http.MethodPut, "/builds", []byte(`{"version_name":"`+version+`","version_code":"1","build_type":"apk","build_size":1}`), "Authorization", "Bearer "+key).status
	}
	assert.Equal(t, 200, build(otherKey, "1.0"))
	assert.Equal(t, 401, build(testKey, "1.0"))
	for _, version := range []string{".", ".."} {
		assert.Equal(t, 400, build(otherKey, version), version)
	}
}
