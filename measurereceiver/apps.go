// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// appID identifies an app in tokens and keys: a prefix of the hash of its API key.
type appID [8]byte

// app is an accepted app.
type app struct {
	id          appID
	folder      string // for its files
	serviceName string
	environment string
	config      []byte // response to GET /config
	etag        string
}

// tenant returns the name of the app in shared memory limits.
func (a *app) tenant() string { return string(a.id[:]) }

// context returns a context with the app as the tenant of messages.
func (a *app) context(ctx context.Context) context.Context {
	return tenant.NewContext(ctx, tenant.Tenant{Ingress: tenant.Measure, Name: a.folder})
}

// dedupID returns the ID of a batch or file. Two apps may use the same UUID.
func (a *app) dedupID(id uuid.UUID) dedup.ID {
	d := dedup.ID{Tenant: a.tenant()}
	copy(d.Value[:], id[:])
	return d
}

type apps struct {
	byHash map[[sha256.Size]byte]*app
	byID   map[appID]*app
	any    *app // for unknown keys; nil: they are rejected

	buildKeys [][sha256.Size]byte
}

func newApps(cfg *Config) *apps {
	all := &apps{byHash: map[[sha256.Size]byte]*app{}, byID: map[appID]*app{}}
	for i := range cfg.Apps {
		hash := sha256.Sum256([]byte(cfg.Apps[i].APIKey))
		a := newApp(&cfg.Apps[i], appID(hash[:8]))
		all.byHash[hash], all.byID[a.id] = a, a
	}
	if cfg.AllowAnyKey {
		all.any = newApp(&AppConfig{SDK: measure.DefaultSDKConfig()}, appID{})
		all.byID[all.any.id] = all.any
	}
	for _, key := range cfg.Builds.APIKeys {
		all.buildKeys = append(all.buildKeys, sha256.Sum256([]byte(key)))
	}
	return all
}

func newApp(cfg *AppConfig, id appID) *app {
	a := &app{id: id, folder: safeName(cfg.ServiceName), serviceName: cfg.ServiceName, environment: cfg.Environment}
	if a.folder == "" {
		a.folder = hex.EncodeToString(id[:])
	}
	a.config, a.etag = cfg.SDK.Document()
	return a
}

// safeName returns a text from the configuration or a request as a file name, or "" if no character
// is usable.
func safeName(text string) string {
	name := url.PathEscape(text)
	if strings.Trim(name, ".") == "" {
		return ""
	}
	return name
}

// authenticate returns the app of a request. It compares hashes of keys, so that its duration
// reveals nothing about valid keys.
func (all *apps) authenticate(req *http.Request) (*app, *rejection) {
	key := measure.APIKey(req.Header.Get("Authorization"))
	if a := all.byHash[sha256.Sum256([]byte(key))]; a != nil && key != "" {
		return a, nil
	}
	switch {
	case key == "":
		return nil, &rejection{status: http.StatusUnauthorized, reason: reasonKeyMissing, err: "invalid api key"}
	case all.any != nil:
		return all.any, nil
	case !measure.WellFormedKey(key):
		return nil, &rejection{status: http.StatusUnauthorized, reason: reasonKeyMalformed, err: "invalid api key"}
	}
	return nil, &rejection{status: http.StatusNotFound, reason: reasonKeyUnknown, err: "no app found for this api key"}
}

// mayBuild reports whether a key may upload builds. The keys of apps are in every copy of the app,
// so builds can require other keys.
func (all *apps) mayBuild(key configopaque.String) bool {
	if len(all.buildKeys) == 0 {
		return true
	}
	hash := sha256.Sum256([]byte(key))
	for i := range all.buildKeys {
		if subtle.ConstantTimeCompare(hash[:], all.buildKeys[i][:]) == 1 {
			return true
		}
	}
	return false
}

// mayOverwrite reports whether uploads of builds may replace earlier ones.
func (all *apps) mayOverwrite() bool { return len(all.buildKeys) > 0 }
