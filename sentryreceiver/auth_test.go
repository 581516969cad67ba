// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/extension/extensionauth"
)

// doorkeeper is an authenticator extension that lets one sentry_key pass.
type doorkeeper struct {
	component.StartFunc
	component.ShutdownFunc
}

var _ extensionauth.Server = doorkeeper{}

func (doorkeeper) Authenticate(ctx context.Context, sources map[string][]string) (context.Context, error) {
	if key := sources["sentry_key"]; len(key) == 1 && key[0] == testKey {
		return ctx, nil
	}
	return ctx, errors.New("not on the list")
}

type hostWithExtensions struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h hostWithExtensions) GetExtensions() map[component.ID]component.Component { return h.extensions }

func TestAuthenticatorOfTheCollector(t *testing.T) {
	id := component.MustNewID("doorkeeper")
	h := startOn(t, hostWithExtensions{componenttest.NewNopHost(), map[component.ID]component.Component{id: doorkeeper{}}}, func(c *Config) {
		c.HTTP.Auth = configoptional.Some(confighttp.AuthConfig{
			Config: configauth.Config{AuthenticatorID: id}, RequestParameters: []string{"sentry_key"},
		})
	})
	send := func(key string) reply {
		return h.do(h.request("POST", "/api/42/envelope/?sentry_key="+key, strings.NewReader(envelope(chunkItem))))
	}
	assert.Equal(t, 200, send(testKey).status)

	got := send("other")
	assert.Equal(t, 401, got.status)
	assert.Contains(t, got.text, `"not on the list"`, "the authenticator's reason")
	assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, map[string]int64{"reason=unauthorized": 1}, h.rejected())
	assert.Equal(t, 1, h.sink.count())

	req := h.request("OPTIONS", "/api/42/envelope/", nil)
	req.Header.Set("Origin", "https://shop.example")
	req.Header.Set("Access-Control-Request-Method", "POST")
	got = h.do(req)
	require.Equal(t, 204, got.status, "browsers send no credentials with a preflight")
	assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
}

func TestAuthenticatorThatIsMissing(t *testing.T) {
	r := create(t, testConfig(func(c *Config) {
		c.HTTP.Auth = configoptional.Some(confighttp.AuthConfig{Config: configauth.Config{AuthenticatorID: component.MustNewID("nobody")}})
	}))
	assert.ErrorContains(t, r.Start(context.Background(), componenttest.NewNopHost()), "nobody")
	require.NoError(t, r.Shutdown(context.Background()))
}
