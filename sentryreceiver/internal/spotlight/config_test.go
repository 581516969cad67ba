// SPDX-License-Identifier: Apache-2.0

package spotlight

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestValidate(t *testing.T) {
	for _, good := range []Config{{}, {Endpoint: "localhost:8969"}, {Endpoint: ":8969", AllowedOrigins: []string{"http://shop.test:3000"}}} {
		assert.NoError(t, good.Validate())
	}
	assert.ErrorContains(t, (&Config{Endpoint: "8969"}).Validate(), `endpoint: is "8969"`)
	for _, bad := range []string{"", "shop.test", "*", "https://*.shop.test", "http://shop.test/path"} {
		assert.ErrorContains(t, (&Config{AllowedOrigins: []string{bad}}).Validate(), `allowed_origins: "`+bad+`"`)
	}
}

// TestGuard: pages of other sites can neither send nor listen, also with a name that leads to this
// machine.
func TestGuard(t *testing.T) {
	const local, remote = "localhost:8969", "0.0.0.0:8969"
	for _, test := range []struct {
		name, endpoint, host, origin string
		status                       int
	}{
		{"SDK", local, "localhost:8969", "", 200},
		{"SDK by address", local, "127.0.0.1:8969", "", 200},
		{"local page", local, "localhost:8969", "http://localhost:5173", 200},
		{"local page by name", local, "localhost:8969", "http://shop.localhost", 200},
		{"local page by address", local, "[::1]:8969", "http://[::1]:5173", 200},
		{"configured page", local, "localhost:8969", "http://shop.test:3000", 200},
		{"page on another port", local, "localhost:8969", "http://shop.test", 403},
		{"another site", local, "localhost:8969", "https://evil.example", 403},
		{"similar name", local, "localhost:8969", "https://localhost.evil.example", 403},
		{"file", local, "localhost:8969", "null", 403},
		{"rebound name", local, "evil.example:8969", "", 421},
		{"rebound page", local, "evil.example:8969", "http://evil.example:8969", 421},
		{"container", remote, "collector:8969", "", 200},
		{"page of a container", remote, "collector:8969", "http://evil.example", 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Endpoint: test.endpoint, AllowedOrigins: []string{"http://shop.test:3000"}}
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodOptions} {
				called := false
				r := httptest.NewRequest(method, "/stream", nil)
				r.Host = test.host
				if test.origin != "" {
					r.Header.Set("Origin", test.origin)
				}
				w := httptest.NewRecorder()
				c.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true })).ServeHTTP(w, r)
				allowed := test.status == 200
				if allowed && method == http.MethodOptions {
					assert.Equal(t, http.StatusNoContent, w.Code)
				} else {
					assert.Equal(t, test.status, w.Code, method)
				}
				assert.Equal(t, allowed && method != http.MethodOptions, called, method)
				if allowed {
					assert.Equal(t, test.origin, w.Header().Get("Access-Control-Allow-Origin"))
				} else {
					assert.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
				}
			}
		})
	}
}

// TestGuardWithoutOrigin: an image of another site has no Origin. SDKs send no Sec-Fetch-Site, or
// that of a local page.
func TestGuardWithoutOrigin(t *testing.T) {
	c := Config{Endpoint: "localhost:8969"}
	for site, want := range map[string]int{"": 200, "same-origin": 200, "same-site": 200, "none": 200, "cross-site": 403} {
		r := httptest.NewRequest(http.MethodGet, "/stream", nil)
		r.Host = "localhost:8969"
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		c.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, site)
	}
}
