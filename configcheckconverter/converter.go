// SPDX-License-Identifier: Apache-2.0

package configcheckconverter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// NewFactory creates the factory of the converter.
func NewFactory() confmap.ConverterFactory {
	return confmap.NewConverterFactory(func(confmap.ConverterSettings) confmap.Converter { return converter{} })
}

type converter struct{}

// Convert checks the configuration. Its errors name the key, the value and the fix.
func (converter) Convert(_ context.Context, conf *confmap.Conf) error {
	whole := conf.ToStringMap()
	used := usedComponents(whole)
	problems := misspelled(whole)
	for _, c := range used {
		refs := references{
			extensions: mapAt(whole, "extensions"),
			active:     texts(at(whole, "service", "extensions")),
			of:         c,
		}
		problems = append(problems, refs.check(c.path(), "", c.settings)...)
	}
	return errors.Join(append(problems, clashes(whole, used)...)...)
}

// component is a component in use.
type component struct {
	section  string // e.g. receivers
	id       string
	settings map[string]any
}

func (c component) kind() string { return c.section + "/" + typeOf(c.id) }
func (c component) path() string { return c.section + "::" + c.id }

// typeOf returns the type of a component, the part of its ID before the slash.
func typeOf(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return strings.TrimSpace(name)
}

// usedComponents returns the components of pipelines, and active extensions, in alphabetical order.
// It omits those without a configuration, which the collector reports.
func usedComponents(whole map[string]any) (used []component) {
	ids := map[string][]string{"extensions": texts(at(whole, "service", "extensions"))}
	pipelines := mapAt(whole, "service", "pipelines")
	for _, pipeline := range pipelines {
		for _, section := range []string{"receivers", "processors", "exporters"} {
			ids[section] = append(ids[section], texts(at(pipeline, section))...)
		}
	}
	for _, section := range slices.Sorted(maps.Keys(ids)) {
		configured := mapAt(whole, section)
		for _, id := range slices.Compact(slices.Sorted(slices.Values(ids[section]))) {
			if _, has := configured[id]; has {
				used = append(used, component{section, id, mapAt(configured, id)})
			}
		}
	}
	return used
}

// at returns the value at a path of keys, or nil.
func at(value any, path ...string) any {
	for _, key := range path {
		settings, _ := value.(map[string]any)
		value = settings[key]
	}
	return value
}

func mapAt(value any, path ...string) map[string]any {
	settings, _ := at(value, path...).(map[string]any)
	return settings
}

// texts returns the texts of a list.
func texts(value any) (found []string) {
	list, _ := value.([]any)
	for _, element := range list {
		if text, is := element.(string); is {
			found = append(found, text)
		}
	}
	return found
}

// references checks the references of a component to extensions.
type references struct {
	extensions map[string]any
	active     []string
	of         component
}

// What a component uses an extension for.
const (
	storage          = "a storage extension, e.g. file_storage"
	authenticator    = "an authenticator, e.g. basicauth or bearertokenauth"
	serverMiddleware = "a middleware of servers, e.g. sentry_tee or otlp_limit"
	clientMiddleware = "a middleware of clients, e.g. fast_gzip"
	none             = "no extension that other components use"
)

// purposes are those of the extensions of the distribution. Others may have any; profile_dialect is
// a middleware of servers and of clients.
var purposes = map[string]string{
	"file_storage": storage,
	"basicauth":    authenticator, "bearertokenauth": authenticator,
	"sentry_tee": serverMiddleware, "otlp_limit": serverMiddleware,
	"fast_gzip":    clientMiddleware,
	"health_check": none, "pprof": none, "zpages": none,
}

// check looks for references in the settings at a path. The keys of authenticators and middlewares
// are those of the collector's HTTP and gRPC settings.
func (r *references) check(path, key string, settings map[string]any) (problems []error) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		switch value := settings[name].(type) {
		case string:
			if name == "storage" && (ours[r.of.kind()] || key == "sending_queue") {
				problems = append(problems, r.reference(path+"::storage", value, storage))
			} else if name == "authenticator" && key == "auth" {
				problems = append(problems, r.reference(path+"::authenticator", value, authenticator))
			}
		case map[string]any:
			problems = append(problems, r.check(path+"::"+name, name, value)...)
		case []any:
			for i, element := range value {
				if id, is := at(element, "id").(string); is && name == "middlewares" {
					problems = append(problems, r.reference(fmt.Sprintf("%s::middlewares[%d]", path, i), id, r.middleware()))
				}
			}
		}
	}
	return problems
}

// ours are the components with a setting "storage".
var ours = map[string]bool{
	"receivers/sentry": true, "receivers/measure": true, "processors/profile_transform": true,
	"exporters/profile_viewer": true, "extensions/sentry_tee": true,
}

func (r *references) middleware() string {
	if r.of.section == "receivers" || r.of.kind() == "exporters/profile_viewer" {
		return serverMiddleware
	}
	return clientMiddleware
}

func (r *references) reference(path, id, purpose string) error {
	_, configured := r.extensions[id]
	is, known := purposes[typeOf(id)]
	switch {
	case known && is != purpose:
		return fmt.Errorf("%s: %q is not %s", path, id, purpose)
	case !configured:
		if other := collector.Nearest(id, slices.Sorted(maps.Keys(r.extensions))); other != "" {
			return fmt.Errorf("%s: %q is not under extensions; did you mean %q?", path, id, other)
		}
		return fmt.Errorf("%s: %q is not under extensions; add it there and to service::extensions", path, id)
	case !slices.Contains(r.active, id):
		return fmt.Errorf("%s: %q is not active; add it to service::extensions", path, id)
	}
	return nil
}
