// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
)

// New returns the server of a component, with confighttp's handlers around the handler.
//
// At level detailed, the collector exports the metrics of otelhttp, whose server.address and
// server.port are the Host header: each invented host would be another series. These handlers see
// the configured endpoint as the host; the handler sees the header.
func New(ctx context.Context, config *confighttp.ServerConfig, host component.Host, set component.TelemetrySettings, handler http.Handler,
	options ...confighttp.ToServerOption,
) (*http.Server, error) {
	handler = restoreHost(handler)
	if config.Auth.HasValue() {
		handler = withoutChallenge(handler)
	}
	if err := missingExtension(config, host.GetExtensions()); err != nil {
		return nil, err
	}
	server, err := config.ToServer(ctx, host.GetExtensions(), set, handler, options...)
	if err != nil {
		return nil, fmt.Errorf("cannot set up the HTTP server: %w", err)
	}
	if config.Auth.HasValue() {
		server.Handler = withChallenge(server.Handler, challengeOf(config.Auth.Get().Config.AuthenticatorID.Type()))
	}
	server.Handler = replaceHost(server.Handler, config.NetAddr.Endpoint)
	return server, nil
}

// missingExtension returns an error that says where to add an extension. Those of confighttp do
// not, and most often only service::extensions lacks it.
func missingExtension(config *confighttp.ServerConfig, extensions map[component.ID]component.Component) error {
	const text = "%s: %q is not an active extension; add it under extensions and service::extensions"
	if config.Auth.HasValue() {
		if id := config.Auth.Get().Config.AuthenticatorID; extensions[id] == nil {
			return fmt.Errorf(text, "auth::authenticator", id)
		}
	}
	for i, middleware := range config.Middlewares {
		if extensions[middleware.ID] == nil {
			return fmt.Errorf(text, fmt.Sprintf("middlewares[%d]", i), middleware.ID)
		}
	}
	return nil
}

// challengeOf returns the challenge for clients without credentials. Only a challenge makes a
// browser ask its user (RFC 9110, section 11.6.1), and confighttp sends none.
func challengeOf(authenticator component.Type) string {
	if authenticator.String() == "basicauth" {
		return `Basic realm="otelcol-sentry", charset="UTF-8"`
	}
	return "Bearer"
}

const challengeHeader = "WWW-Authenticate"

// withChallenge adds the challenge to every response, and withoutChallenge, which is called after
// the authentication, removes it again.
func withChallenge(next http.Handler, challenge string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set(challengeHeader, challenge)
		next.ServeHTTP(w, req)
	})
}

func withoutChallenge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Del(challengeHeader)
		next.ServeHTTP(w, req)
	})
}

type sentHost struct{}

func replaceHost(next http.Handler, endpoint string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		replaced := req.WithContext(context.WithValue(req.Context(), sentHost{}, req.Host))
		replaced.Host = endpoint
		next.ServeHTTP(w, replaced)
		req.MultipartForm = replaced.MultipartForm // the server removes its files
	})
}

func restoreHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if sent, ok := req.Context().Value(sentHost{}).(string); ok {
			endpoint := req.Host
			req.Host = sent
			defer func() { req.Host = endpoint }() // otelhttp reads it afterwards
		}
		next.ServeHTTP(w, req)
	})
}
