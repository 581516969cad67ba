// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/fastgzipextension"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver"
	"github.com/otelcol-sentry/otelcol-sentry/otlplimitextension"
	"github.com/otelcol-sentry/otelcol-sentry/profiledialectextension"
	"github.com/otelcol-sentry/otelcol-sentry/profiletransformprocessor"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter"
	"github.com/otelcol-sentry/otelcol-sentry/sentryexporter"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor"
)

// TestMistakes: "validate" rejects each mistake, with the facts that the user needs: the key, the
// value, and the fix.
func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		_, err := validate(t, m.entry(), "")
		if !assert.Error(t, err, "silent: %s %s", m.component, m.config) {
			continue
		}
		for _, fact := range m.facts {
			assert.ErrorContains(t, err, fact, "%s %s", m.component, m.config)
		}
		assert.NotContains(t, err.Error(), "hunter2", "a secret: %s %s", m.component, m.config)
	}
	assert.GreaterOrEqual(t, len(mistakes), 100)
}

// TestLegal: "validate" accepts what looks like a mistake, for a reason.
func TestLegal(t *testing.T) {
	for _, l := range legal {
		_, err := validate(t, l.entry(), "")
		assert.NoError(t, err, "%s %s: %s", l.component, l.config, l.reason)
		assert.NotEmpty(t, l.reason)
	}
}

// TestPrintedConfigurations: what the collector prints as a configuration is one: all keys of our
// components and of the collector's settings in them are known, with values of the right types.
func TestPrintedConfigurations(t *testing.T) {
	for _, factory := range []component.Factory{
		measurereceiver.NewFactory(), sentryreceiver.NewFactory(), profiletransformprocessor.NewFactory(), symbolicateprocessor.NewFactory(),
		profileviewerexporter.NewFactory(), sentryexporter.NewFactory(), fastgzipextension.NewFactory(), otlplimitextension.NewFactory(),
		profiledialectextension.NewFactory(), sentryteeextension.NewFactory(),
	} {
		printed := confmap.New()
		require.NoError(t, printed.Marshal(factory.CreateDefaultConfig()))
		text, err := yaml.Marshal(printed.ToStringMap())
		require.NoError(t, err)
		retrieved, err := confmap.NewRetrievedFromYAML(text)
		require.NoError(t, err)
		read, err := retrieved.AsConf()
		require.NoError(t, err)
		again := factory.CreateDefaultConfig()
		assert.NoError(t, read.Unmarshal(&again), "%s", factory.Type())
	}
}

// TestDefaultAddresses: the converter knows the default addresses of our components.
func TestDefaultAddresses(t *testing.T) {
	for component, factory := range map[string]component.Factory{
		"receivers/sentry": sentryreceiver.NewFactory(), "receivers/measure": measurereceiver.NewFactory(), "exporters/profile_viewer": profileviewerexporter.NewFactory(),
	} {
		conf := confmap.New()
		require.NoError(t, conf.Marshal(factory.CreateDefaultConfig()))
		address, is := conf.Get("endpoint").(string)
		require.True(t, is, component)
		section, name, _ := strings.Cut(component, "/")
		other := "sentry/other: {endpoint: '" + address + "'}"
		if section == "receivers" {
			other = name + ":\n  " + other
		}
		_, err := validate(t, row{whole, service(other, "")}.entry(), "")
		assert.ErrorContains(t, err, "is "+address, component)
		assert.ErrorContains(t, err, section+"::"+name+"::endpoint", component)
	}
}

// row is a configuration of a component, e.g. of receivers/sentry, without its required settings;
// of "collector", it is the whole configuration.
type row struct{ component, config string }

type mistake struct {
	row
	facts []string
}

// required are the settings without which no configuration of a component is valid.
var required = map[string]string{
	"receivers/measure":         "allow_any_key: true",
	"processors/symbolicate":    "store: {directory: /}",
	"exporters/sentry_envelope": "dsn: https://a@sentry.example/42",
	"extensions/sentry_tee":     "upstream: https://sentry.example",
}

func (r row) entry() Entry {
	kind, name, _ := strings.Cut(r.component, "/")
	config := r.config
	if key, _, _ := strings.Cut(required[r.component], ":"); key != "" && !strings.HasPrefix(config, key+":") {
		config = required[r.component] + "\n" + config
	}
	return Entry{Kind: kind, Type: name, Keys: "  " + strings.ReplaceAll(config, "\n", "\n  ") + "\n"}
}

func of(component, config string, facts ...string) mistake {
	return mistake{row{component, config}, facts}
}

const (
	sentryReceiver = "receivers/sentry"
	measure        = "receivers/measure"
	transform      = "processors/profile_transform"
	symbolicate    = "processors/symbolicate"
	toSentry       = "exporters/sentry_envelope"
	viewer         = "exporters/profile_viewer"
	tee            = "extensions/sentry_tee"
	whole          = Whole + "/configuration"
)

var mistakes = []mistake{
	// Texts for numbers, and the reverse.
	of(sentryReceiver, `projects: [{id: "42", public_keys: [a]}]`, "projects[0]::id", `"42"`, "remove the quotes"),
	of(sentryReceiver, `projects: [{id: shop, public_keys: [a]}]`, "projects[0]::id", `"shop"`, "whole number"),
	of(sentryReceiver, `projects: [{id: -1, public_keys: [a]}]`, "projects[0]::id", "-1", "negative"),
	of(sentryReceiver, `projects: [{id: 1.5, public_keys: [a]}]`, "projects[0]::id", "1.5", "whole number"),
	of(sentryReceiver, `projects: [{id: 42, public_keys: [12345678901234567890]}]`, "projects[0]::public_keys[0]", "number", "quotes"),
	of(sentryReceiver, `projects: [{id: 42, public_keys: [45e10]}]`, "projects[0]::public_keys[0]", "number", "quotes"),
	of(sentryReceiver, `projects: [{id: 42, public_keys: 123}]`, "projects[0]::public_keys", "number", "list"),
	of(sentryReceiver, `projects: [{id: 42, public_keys: [true]}]`, "projects[0]::public_keys[0]", "quotes"),
	of(sentryReceiver, `projects: {id: 42, public_keys: [a]}`, "projects", "a map", "a list"),
	of(sentryReceiver, `projects: [42]`, "projects[0]", "42", "id: …"),
	of(sentryReceiver, `projects: "42"`, "projects", "text", "a list"),
	of(sentryReceiver, `path_prefix: 5`, "path_prefix", "number", "quotes"),
	of(sentryReceiver, `include_pii: "yes"`, "include_pii", `"yes"`, "true or false"),
	of(sentryReceiver, `include_pii: 1`, "include_pii", "1", "true or false"),
	of(sentryReceiver, `dedup: on`, "dedup", `"on"`, "map", "max_ids"),
	of(sentryReceiver, `dedup: {max_ids: "1000"}`, "dedup::max_ids", `"1000"`, "remove the quotes"),
	of(sentryReceiver, `dedup: {max_ids: 10.5}`, "dedup::max_ids", "10.5", "whole number"),
	of(sentryReceiver, `dedup: {max_ids: 1e30}`, "dedup::max_ids", "1e+30", "at most"),
	of(sentryReceiver, `middlewares: sentry_tee`, "middlewares", "a list", "id: sentry_tee"),
	of(sentryReceiver, `middlewares: [sentry_tee]`, "middlewares[0]", "{id: sentry_tee}"),
	of(sentryReceiver, `auth: basicauth`, "auth", "map", "authenticator: basicauth"),
	of(sentryReceiver, `scrubbing: false`, "scrubbing", "false", "text"),
	of(sentryReceiver, `tls: true`, "tls", "true", "map"),
	of(tee, `projects: [{id: "42", upstream_dsn: https://hunter2@sentry.example/7}]`, "projects[0]::id", `"42"`, "remove the quotes"),
	of(tee, `management_api: "true"`, "management_api", `"true"`, "true or false"),
	of(tee, `num_consumers: "5"`, "num_consumers", `"5"`, "remove the quotes"),
	of(measure, `apps: [{api_key: 123}]`, "apps[0]::api_key", "number", "quotes"),
	of(measure, `apps: hunter2`, "apps", "a list", "api_key"),
	of(measure, `apps: [{api_key: k, service_name: 5}]`, "apps[0]::service_name", "number", "quotes"),
	of(symbolicate, `uploads: {endpoint: "localhost:1", token: 123}`, "uploads::token", "number", "quotes"),
	of(symbolicate, `store: /var/lib/symbols`, "store", "map", "directory"),
	of(toSentry, `errors: {tags: [1]}`, "errors::tags[0]", "number", "quotes"),
	of(toSentry, `max_attempts: ten`, "max_attempts", `"ten"`, "whole number"),
	of(toSentry, `dsns: [{match: [a], dsn: https://hunter2@sentry.example/42}]`, "dsns[0]::match", "a list", "a map"),
	of(viewer, `storage: 5`, "storage", "5", "text"),
	of(transform, `link: true`, "link", "true", "map"),
	of(transform, `link: {enabled: "no"}`, "link::enabled", `"no"`, "true or false"),
	of(transform, `link: {max_spans: 1.5}`, "link::max_spans", "1.5", "whole number"),

	// Sizes.
	of(sentryReceiver, `max_request_body_size: 100M`, "max_request_body_size", `"100M"`, "100MiB"),
	of(sentryReceiver, `max_request_body_size: "1048576"`, "max_request_body_size", `"1048576"`, "remove the quotes"),
	of(sentryReceiver, `max_request_body_size: -1MiB`, "max_request_body_size", "-1048576", "1 to"),
	of(sentryReceiver, `max_request_body_size: 4GiB`, "max_request_body_size", "4294967296", "1 to"),
	of(sentryReceiver, `max_bytes_in_flight: 1 MiB`, "max_bytes_in_flight", "1048576", "at least"),
	of(sentryReceiver, `max_profile_size: big`, "max_profile_size", `"big"`, "100MiB"),
	of(measure, `attachments: {max_size: {screenshot: 2 megabytes}}`, "attachments::max_size::screenshot", `"2 megabytes"`, "MiB"),
	of(measure, `attachments: {max_total_size: 0}`, "attachments: max_total_size", "0", "greater than 0"),
	of(measure, `builds: {max_size: 2GiB, max_total_size: 1GiB}`, "max_total_size", "1073741824", "must not be smaller"),
	of(symbolicate, `hold: {max_bytes: 16 mebibytes}`, "hold::max_bytes", `"16 mebibytes"`, "MiB"),
	of(symbolicate, `uploads: {max_total_size: 1MiB}`, "uploads::max_total_size", "1048576", "104857600"),
	of(viewer, `max_bytes: 100kB`, "max_bytes", "100000", "1048576"),
	of(viewer, `max_bytes: 128m`, "max_bytes", `"128m"`, "MiB"),
	of(tee, `spool: {max_bytes: 1MiB}`, "max_bytes", "1048576", "62914560"),
	of(tee, `max_bytes_in_flight: 16Mi`, "max_bytes_in_flight", `"16Mi"`, "MiB"),
	of(toSentry, `sending_queue: {queue_size: 1kB}`, "sending_queue::queue_size", "1000", "1048576"),
	of(toSentry, `sending_queue: {sizer: requests, queue_size: 10MiB}`, "sending_queue::queue_size", `"10MiB"`, "whole number"),
	of(transform, `transforms: [{split: {max_bytes: 5kB}}]`, "max_bytes", "5000", "10000"),
	of(transform, `transforms: [{split: {max_bytes: 5 k}}]`, "max_bytes", `"5 k"`, "MiB"),
	of("extensions/otlp_limit", `max_bytes_in_flight: 1MiB`, "max_bytes_in_flight", "1048576", "16777216"),

	// Unknown keys.
	of(sentryReceiver, `endpiont: localhost:1`, "endpiont", `"endpoint"`),
	of(sentryReceiver, `http: {endpoint: "localhost:1"}`, "http", "endpoint", "one level up"),
	of(sentryReceiver, `protocols: {http: {endpoint: "localhost:1"}}`, "protocols", "endpoint"),
	of(sentryReceiver, `max_ids: 5`, "max_ids", `"dedup::max_ids"`),
	of(sentryReceiver, `project: [{id: 1}]`, "project", `"projects"`),
	of(sentryReceiver, `projects: [{id: 1, public_key: a}]`, "projects[0]::public_key", `"public_keys"`),
	of(sentryReceiver, `projects: [{id: 1, keys: [a]}]`, "projects[0]::keys", `"public_keys"`),
	of(sentryReceiver, `cors: {origins: ["*"]}`, "cors::origins", `"allowed_origins"`),
	of(sentryReceiver, `tls: {cert: a}`, "tls::cert", `"cert_`),
	of(sentryReceiver, `connections: {trusted_proxy: []}`, "connections::trusted_proxy", `"trusted_proxies"`),
	of(sentryReceiver, `Endpoint: localhost:1`, "Endpoint", `"endpoint"`),
	of(sentryReceiver, `max-profile-size: 5`, "max-profile-size", `"max_profile_size"`),
	of(sentryReceiver, `auth: {authenticater: x}`, "auth::authenticater", `"authenticator"`),
	of(measure, `apps: [{key: k}]`, "apps[0]::key", `"api_key"`),
	of(measure, `apps: [{api_key: k, config: {trace_sample_rate: 20}}]`, "apps[0]::config::trace_sample_rate", `"trace_sampling_rate"`),
	of(measure, `attachments: {dir: /tmp}`, "attachments::dir", `"directory"`),
	of(transform, `wait: 1s`, "wait", `"link::wait"`),
	of(transform, `link: {keys: {threads: x}}`, "link::keys::threads", `"thread"`),
	of(transform, `transforms: [{threads: {drops: [a]}}]`, "drops", `"drop"`),
	of(transform, `transforms: [{agregate: {}}]`, "transforms[0]", `"agregate"`, "aggregate"),
	of(symbolicate, `store: {dir: /}`, "store::dir", `"directory"`),
	of(symbolicate, `directory: /symbols`, "directory", `"store::directory"`),
	of(symbolicate, `downloads: {hosts: [a.example]}`, "downloads::hosts", `"source_map_hosts"`),
	of(symbolicate, `timeout: 5s`, "timeout", "must be one of", "hold"),
	of(toSentry, `dns: x`, "dns", `"dsn`),
	of(toSentry, `sending_queue: {size: 1}`, "sending_queue::size", `"queue_size"`),
	of(toSentry, `retry: {enabled: false}`, "retry", `"retry_on_failure"`),
	of(toSentry, `errors: {from_log: all}`, "errors::from_log", `"from_logs"`),
	of(viewer, `max_size: 5MiB`, "max_size", "max_bytes"),
	of(viewer, `hosts: [a]`, "hosts", `"allowed_hosts"`),
	of(tee, `upstrem: https://a`, "upstrem", `"upstream"`),
	of(tee, `spool: {age: 1h}`, "spool::age", `"max_age"`),
	of(tee, `dsn: https://hunter2@sentry.example/1`, "dsn", "must be one of", "projects"),
	of("extensions/fast_gzip", `level: 5`, "level", "no settings"),
	of("extensions/profile_dialect", `version: v1_9`, "version", "dialect"),

	// Durations.
	of(sentryReceiver, `read_timeout: 30`, "read_timeout", "30", "30s"),
	of(sentryReceiver, `read_timeout: 30 s`, "read_timeout", `"30 s"`, "30s"),
	of(sentryReceiver, `dedup: {max_age: 1d}`, "dedup::max_age", `"1d"`, "24h"),
	of(sentryReceiver, `dedup: {max_age: -1h}`, "max_age", "-1h", "positive"),
	of(sentryReceiver, `backpressure_pause: -1s`, "backpressure_pause", "-1s", "from 1s"),
	of(sentryReceiver, `read_timeout: -5s`, "read_timeout", "-5s", "must not be negative"),
	of(measure, `read_header_timeout: -5s`, "read_header_timeout", "-5s", "must not be negative"),
	of(measure, `attachments: {url_ttl: -1h}`, "url_ttl", "-1h", "168h"),
	of(transform, `link: {wait: 30}`, "link::wait", "30", "30s"),
	of(transform, `link: {wait: -1s}`, "link::wait", "-1s", "30s"),
	of(transform, `link: {keep_spans: soon}`, "link::keep_spans", `"soon"`, "30s"),
	of(transform, `retry_on_failure: {max_elapsed_time: -5m}`, "max_elapsed_time", "-5m", "0s"),
	of(transform, `transforms: [{split: {max_duration: 10}}]`, "max_duration", "10", "10s"),
	of(symbolicate, `hold: {timeout: 5}`, "hold::timeout", "5", "5s"),
	of(symbolicate, `hold: {timeout: -5s}`, "hold::timeout", "-5s", "30s"),
	of(toSentry, `timeout: -1s`, "timeout", "-1s", "must be"),
	of(toSentry, `errors: {dedupe: -1s}`, "errors::dedupe", "-1s", "0s"),
	of(toSentry, `retry_on_failure: {initial_interval: -1s}`, "initial_interval", "must be"),
	of(viewer, `max_age: 60`, "max_age", "60", "60s"),
	of(viewer, `read_timeout: -1s`, "read_timeout", "-1s", "must not be negative"),
	of(tee, `answer_timeout: 0s`, "answer_timeout", "0s", "5s"),
	of(tee, `timeout: 1 minute`, "timeout", `"1 minute"`, "30s"),

	// Percent and fraction.
	of(tee, `forward: {event: 50}`, "forward: event", "50", "0.1"),
	of(tee, `forward: {event: "50%"}`, "forward::event", `"50%"`, "0.1"),
	of(tee, `forward: {event: "0.5"}`, "forward::event", `"0.5"`, "remove the quotes"),
	of(measure, `apps: [{api_key: k, config: {trace_sampling_rate: 200}}]`, "trace_sampling_rate", "200", "percentage"),
	of(measure, `apps: [{api_key: k, config: {trace_sampling_rate: 20%}}]`, "trace_sampling_rate", `"20%"`, "number"),

	// Addresses.
	of(sentryReceiver, `endpoint: "4319"`, "endpoint", `"4319"`, "localhost:4319"),
	of(sentryReceiver, `endpoint: localhost`, "endpoint", `"localhost"`, "localhost:4319"),
	of(sentryReceiver, `endpoint: "localhost:"`, "endpoint", `"localhost:"`, "localhost:4319"),
	of(sentryReceiver, `endpoint: http://localhost:4319`, "endpoint", "http://localhost:4319", "localhost:4319"),
	of(sentryReceiver, `endpoint: localhost:99999`, "endpoint", "localhost:99999", "65535"),
	of(sentryReceiver, `spotlight: {endpoint: "8969"}`, "endpoint", `"8969"`, "localhost:8969"),
	of(measure, `endpoint: "4320"`, "endpoint", `"4320"`, "localhost:4320"),
	of(measure, `public_endpoint: rum.example.com`, "public_endpoint", "rum.example.com", "https://rum.example.com"),
	of(viewer, `endpoint: "4321"`, "endpoint", `"4321"`, "localhost:4321"),
	of(viewer, `allowed_hosts: ["https://a.example"]`, "allowed_hosts", "https://a.example", "omit scheme"),
	of(symbolicate, `uploads: {endpoint: "4322", token: hunter2}`, "uploads::endpoint", `"4322"`, "localhost:4320"),
	of(symbolicate, `downloads: {debuginfod_urls: [debuginfod.example]}`, "debuginfod_urls", "debuginfod.example", "https"),
	of(tee, `upstream: sentry.example`, "upstream", "sentry.example", "https://"),
	of(tee, `upstream: https://hunter2@sentry.example/1`, "upstream", "key", "address"),
	of(tee, `upstream: htps://sentry.example`, "upstream", "htps", "https://"),
	of(tee, `proxy_url: proxy.example:3128`, "proxy_url", "http://"),
	of(toSentry, `proxy_url: proxy.example:3128`, "proxy_url", "http://"),

	// DSNs.
	of(toSentry, `dsn: ""`, "dsn", "environment variable"),
	of(toSentry, `dsn: hunter2@sentry.example/42`, "dsn", "scheme", "https://<key>"),
	of(toSentry, `dsn: https://sentry.example/42`, "dsn", "key", "https://<key>"),
	of(toSentry, `dsn: https://hunter2@sentry.example`, "dsn", "project", "https://<key>"),
	of(toSentry, `dsn: https://hunter2@/42`, "dsn", "host", "https://<key>"),
	of(toSentry, `dsn: htps://hunter2@sentry.example/42`, "dsn", "htps", "http or https"),
	of(toSentry, `dsn: https://a@sentry.example/shop`, "dsn", "shop", "number"),
	of(tee, `projects: [{id: 1, upstream_dsn: https://sentry.example}]`, "projects[0].upstream_dsn", "https://key@"),

	// Values too small to work, and settings that contradict each other.
	of(sentryReceiver, `connections: {max: 0}`, "connections", "max", "0", "8192"),
	of(viewer, `max_age: 1ms`, "max_age", "1ms", "at least 1s"),
	of(transform, `link: {keep_spans: 1s}`, "link::keep_spans", "1s", "link::wait"),
	of(tee, `spool: {drain_rate: 0}`, "drain_rate", "0", "100"),
	of(tee, `storage: ""`, "storage"),
	of(toSentry, `sending_queue: {num_consumers: 0}`, "num_consumers", "positive"),
	of(toSentry, `endpoint: https://sentry.example`, "endpoint", "dsn"),
	of(symbolicate, `uploads: {endpoint: "localhost:4322"}`, "uploads::token", "must be set"),
	of(symbolicate, `uploads: {token: hunter2}`, "uploads::endpoint", "localhost:4320"),
	of(sentryReceiver, `tls: {cert_file: /does/not/exist.pem}`, "tls", "key"),

	// References to extensions.
	of(whole, service("sentry: {dedup: {storage: file_storage}}", ""), "receivers::sentry::dedup::storage", `"file_storage"`, "add it there"),
	of(whole, service("sentry: {middlewares: [{id: sentry_tee}]}", "sentry_tee: {upstream: https://sentry.example}"), "middlewares[0]", `"sentry_tee"`, "add it to service::extensions"),
	of(whole, service("sentry: {middlewares: [{id: sentry_te}]}", "sentry_tee: {upstream: https://sentry.example}", "sentry_tee"), "middlewares[0]", `"sentry_te"`, `"sentry_tee"`),
	of(whole, service("sentry: {middlewares: [{id: fast_gzip}]}", "fast_gzip:", "fast_gzip"), "middlewares[0]", `"fast_gzip"`, "sentry_tee"),
	of(whole, service("sentry: {dedup: {storage: health_check}}", "health_check:", "health_check"), "storage", `"health_check"`, "file_storage"),
	of(whole, service("sentry: {auth: {authenticator: file_storage}}", "file_storage:", "file_storage"), "auth::authenticator", `"file_storage"`, "basicauth"),
	of(whole, service("sentry: {dedup: {storage: file_storage}}", "file_storage/a:", "file_storage/a"), "storage", `"file_storage"`, `"file_storage/a"`),
	of(whole, service("sentry:", "sentry_tee: {upstream: https://sentry.example, storage: file_storage}", "sentry_tee"), "extensions::sentry_tee::storage", `"file_storage"`, "add it there"),
	of(whole, service("sentry:\n  otlp: {protocols: {http: {auth: {authenticator: basicauth}}}}", ""), "receivers::otlp::protocols::http::auth::authenticator", `"basicauth"`, "add it there"),

	// Names in the service section.
	of(whole, `recievers: {sentry: }`, `"recievers"`, `"receivers"`),
	of(whole, `service: {extensions: [file_storag]}`+"\nextensions: {file_storage: }", "service::extensions", `"file_storag"`, `"file_storage"`),
	of(whole, `service: {pipelines: {profile: {receivers: []}}}`, "service::pipelines::profile", `"profile"`, `"profiles"`),
	of(whole, `service: {pipelines: {log/2: {receivers: []}}}`, "service::pipelines::log/2", `"log"`, `"logs"`),
	of(whole, "receivers: {sentry: }\nservice: {pipelines: {logs: {receivers: [sentyr]}}}", "service::pipelines::logs::receivers", `"sentyr"`, `"sentry"`),
	of(whole, "processors: {symbolicate: }\nservice: {pipelines: {logs: {processors: [symbolize, symbolicat]}}}", "service::pipelines::logs::processors", `"symbolicat"`, `"symbolicate"`),
	of(whole, "exporters: {otlp_http/backend: }\nservice: {pipelines: {logs: {exporters: [otlp_http]}}}", "service::pipelines::logs::exporters", `"otlp_http"`, `"otlp_http/backend"`),

	// Addresses that two components use.
	of(whole, service("sentry:\n  measure: {endpoint: 'localhost:4319'}", ""), "receivers::sentry::endpoint", "localhost:4319", "receivers::measure::endpoint", "another port"),
	of(whole, service("sentry:\n  sentry/2:", ""), "receivers::sentry/2::endpoint", "localhost:4319", "another port"),
	of(whole, service("sentry: {endpoint: '0.0.0.0:4321'}", ""), "exporters::profile_viewer::endpoint", "0.0.0.0:4321", "another port"),
	of(whole, service("sentry: {spotlight: {endpoint: 'localhost:4319'}}", ""), "receivers::sentry::spotlight::endpoint", "another port"),
	of(whole, service("sentry: {endpoint: '127.0.0.1:8888'}", ""), "receivers::sentry::endpoint", "service::telemetry::metrics", "another port"),
	of(whole, service("sentry: {endpoint: ':4317'}\n  otlp: {protocols: {grpc: {}}}", ""), "receivers::sentry::endpoint", ":4317", "receivers::otlp::protocols::grpc::endpoint"),
	of(whole, service("sentry: {endpoint: 'localhost:13133'}", "health_check:", "health_check"), "localhost:13133", "extensions::health_check::endpoint"),
}

// service returns a configuration with receivers and extensions. All receivers are in a pipeline,
// with the viewer.
func service(receivers, extensions string, active ...string) string {
	var ids []string
	for line := range strings.SplitSeq(receivers, "\n") {
		id, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		ids = append(ids, id)
	}
	return "receivers:\n  " + receivers + "\nextensions:\n  " + extensions + "\nexporters: {profile_viewer: }\nservice:\n  extensions: [" +
		strings.Join(active, ", ") + "]\n  pipelines: {logs: {receivers: [" + strings.Join(ids, ", ") + "], exporters: [profile_viewer]}}"
}

// legal are configurations that look like mistakes, with the reason why they are accepted.
var legal = []struct {
	row
	reason string
}{
	{row{sentryReceiver, `max_request_body_size: 1.5MiB`}, "sizes can have units"},
	{row{sentryReceiver, `max_request_body_size: 100 MB`}, "with a space, and decimal"},
	{row{sentryReceiver, `max_request_body_size: 1048576`}, "bytes need no unit"},
	{row{sentryReceiver, `max_request_body_size: 1e6`}, "a whole number"},
	{row{sentryReceiver, `connections: {min_body_rate: 1KiB}`}, "a size per second"},
	{row{toSentry, `read_buffer_size: 1KiB`}, "no setting of ours, but one of our configuration"},
	{row{sentryReceiver, `keep_metric_attributes: user.id,user.email`}, "a text with commas is a list, as everywhere in the collector"},
	{row{sentryReceiver, `read_timeout: 0`}, "zero needs no unit, and means no limit in the collector's HTTP servers"},
	{row{sentryReceiver, `endpoint: ":4319"`}, "all addresses; the start warns if the receiver accepts any DSN"},
	{row{sentryReceiver, `dedup:`}, "a key without a value has its default, as everywhere in the collector"},
	{row{sentryReceiver, `transport: unix` + "\n" + `endpoint: /tmp/sentry.sock`}, "a socket has no port"},
	{row{sentryReceiver, `projects: [{id: 42, public_keys: ["1234567890"]}]`}, "digits in quotes are a key"},
	{row{measure, `apps: [{api_key: k, config: {trace_sampling_rate: 0.2}}]`}, "0.2 % is a rate of large apps; the start warns"},
	{row{measure, `attachments: {max_size: {screenshot: 2MiB, heap_dump: 0}}`}, "sizes of a map; 0 rejects the type"},
	{row{toSentry, `dsn: "https://a@sentry.example/42 "`}, "spaces around a DSN come from copying it"},
	{row{toSentry, `sending_queue: {queue_size: 64MiB}`}, "a setting of the collector, in bytes by default"},
	{row{toSentry, `sending_queue: {enabled: false}`}, "without a queue, senders wait for Sentry"},
	{row{toSentry, `retry_on_failure: {max_elapsed_time: 0}`}, "no limit"},
	{row{viewer, `max_bytes: 1.5GiB`}, "sizes can have units"},
	{row{tee, `forward: {event: 1}`}, "the fraction of everything, not one percent"},
	{row{tee, `forward: {event: 0}`}, "forwards none"},
	{row{tee, `spool: {max_bytes: 2GiB}`}, "sizes can have units"},
	{row{transform, `transforms: [{split: {max_bytes: 4MiB}}]`}, "also in lists"},
	{row{transform, `batch: {timeout: 0}`}, "no batches"},
	{row{symbolicate, `hold: {timeout: 0}`}, "holds no message"},
	{row{symbolicate, `store: {directory: /, max_open_bytes: 64MiB}`}, "sizes can have units"},
	{row{whole, service("sentry: {endpoint: 'localhost:0'}\n  sentry/2: {endpoint: 'localhost:0'}", "")}, "port 0 is any free port"},
	{row{whole, service("sentry: {endpoint: '127.0.0.1:7'}\n  sentry/2: {endpoint: '127.0.0.2:7'}", "")}, "two addresses"},
	{row{whole, service("sentry: {endpoint: '0.0.0.0:7'}\n  sentry/2: {endpoint: '[::1]:7'}", "")}, "all addresses of IPv4, and one of IPv6"},
	{row{whole, service("sentry: {endpoint: 'localhost:8888'}", "") + "\n  telemetry: {metrics: {level: None}}"}, "the collector reads levels in any case"},
	{row{whole, service("sentry:", "sentry_tee: {upstream: https://sentry.example}")}, "an extension that is not active, as everywhere in the collector"},
	{row{whole, service("sentry:", "sentry_tee: {upstream: https://sentry.example}", "sentry_tee")}, "a tee that no receiver uses; the start warns"},
	{row{whole, service("sentry: {dedup: {storage: db_storage}}", "db_storage:", "db_storage")}, "an extension of another build"},
}
