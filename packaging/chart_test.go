// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	chart      = "helm/otelcol-sentry"
	kubernetes = "1.30.0" // helm knows no version without a cluster, unless its build sets one
)

// TestChart renders the chart with each file of values. The manifests have no unknown field and no
// wrong type, and the collector accepts the configurations in them.
func TestChart(t *testing.T) {
	schemas, helm := kubernetesSchemas(t), toolPath(t, "helm")
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, values := range files {
		t.Run(strings.TrimSuffix(filepath.Base(values), ".yaml"), func(t *testing.T) {
			run(t, helm, "lint", "--strict", "--kube-version", kubernetes, "--values", values, chart)
			manifests := run(t, helm, "template", "shop", chart, "--kube-version", kubernetes, "--values", values)
			path := filepath.Join(t.TempDir(), "manifests.yaml")
			require.NoError(t, os.WriteFile(path, []byte(manifests), 0o644))
			summary := run(t, "go", "tool", "kubeconform", "-strict", "-summary", "-schema-location", schemas+"/{{.ResourceKind}}{{.KindSuffix}}.json", path)
			assert.Contains(t, summary, "Invalid: 0, Errors: 0, Skipped: 0", "of %s", values)
			checkObjects(t, manifests, exportersIn(t, values))
		})
	}
}

// TestChartRejects: the schema and the templates reject mistakes in values, and name the key.
func TestChartRejects(t *testing.T) {
	helm := toolPath(t, "helm")
	const backend = "exporters: {otlp_http: {config: {endpoint: 'http://backend:4318'}}}\n"
	for values, key := range map[string]string{
		// typos
		backend + "linking: {replica: 3}":                                "'replica'",
		backend + "serviceMonitors: {enabled: true}":                     "'serviceMonitors'",
		"exporters: {otlp_http: {singals: [logs], config: {}}}":          "'singals'",
		"exporters: {otlp_http: {signals: [profile], config: {}}}":       "/exporters/otlp_http/signals/0",
		"exporters: {otlp_http: {endpoint: 'http://backend:4318'}}":      "'endpoint'",
		backend + "linking: {config: {processor: {batch: {}}}}":          "'processor'",
		backend + "linking: {config: {service: {pipelines: {log: {}}}}}": "invalid propertyName 'log'",
		backend + "mode: hashed":                                         "/mode",
		// units and types
		backend + "linking: {memoryMiB: 1280Mi}":                      "/linking/memoryMiB",
		backend + "linking: {memoryMiB: 4}":                           "/linking/memoryMiB",
		backend + "linking: {memoryMiB: 1342177280}":                  "/linking/memoryMiB",
		backend + "linking: {cpu: 500}":                               "/linking/cpu",
		backend + "linking: {storage: {size: 5GB}}":                   "/linking/storage/size",
		backend + "receiver: {storage: {size: 5}}":                    "/receiver/storage/size",
		backend + "serviceMonitor: {interval: 30}":                    "/serviceMonitor/interval",
		backend + "image: {tag: 0.1}":                                 "/image/tag",
		backend + "env: [{name: ZONE, value: 5}]":                     "/env/0/value",
		backend + "projects: [{id: 1, public_keys: [7777777777]}]":    "/projects/0/public_keys/0",
		backend + "ingress: {hosts: ['https://sentry.shop.example']}": "/ingress/hosts/0",
		// what the chart sets
		backend + "sentry: {config: {endpoint: '0.0.0.0:443'}}":    "sentry.config.endpoint",
		backend + "sentry: {config: {tls: {cert_file: /tls.crt}}}": "tls.secretName",
		// what would lose or mix up data
		"": "exporters: there is none",
		"exporters: {otlp_http: {signals: [profiles, traces, logs]}}": "exporters: none receives metrics",
		backend + "linking: {storage: {size: 100Mi}}":                 "linking.storage.size",
		backend + "mode: kafka\notlp: {enabled: true}":                "otlp.enabled",
	} {
		path := filepath.Join(t.TempDir(), "values.yaml")
		require.NoError(t, os.WriteFile(path, []byte(values), 0o644))
		output, err := exec.Command(helm, "template", "shop", chart, "--kube-version", kubernetes, "--values", path).CombinedOutput()
		assert.Error(t, err, "%s", values)
		assert.Contains(t, string(output), key, "%s", values)
	}
}

// exportersIn returns the exporters in a file of values.
func exportersIn(t *testing.T, path string) []string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var values struct{ Exporters map[string]any }
	require.NoError(t, yaml.Unmarshal(text, &values))
	return slices.Sorted(maps.Keys(values.Exporters))
}

type object struct {
	Kind     string
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Data map[string]string
	Spec struct {
		Selector map[string]any
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Containers []struct {
					Env []struct{ Name, Value string }
				}
			}
		}
	}
}

// checkObjects checks relations between objects that no schema describes: selectors select pods,
// and pods run with valid configurations, which send all signals to the exporters of the user.
func checkObjects(t *testing.T, manifests string, exporters []string) {
	var objects []object
	for decoder := yaml.NewDecoder(strings.NewReader(manifests)); ; {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		objects = append(objects, o)
	}
	var pods []map[string]string
	limits := map[string]int{} // GOMEMLIMIT by component
	for _, o := range objects {
		labels := o.Spec.Template.Metadata.Labels
		if labels == nil {
			continue
		}
		pods = append(pods, labels)
		for _, variable := range o.Spec.Template.Spec.Containers[0].Env {
			if variable.Name == "GOMEMLIMIT" {
				limit, err := strconv.Atoi(strings.TrimSuffix(variable.Value, "MiB"))
				require.NoError(t, err)
				limits[labels["app.kubernetes.io/component"]] = limit
			}
		}
	}
	require.Len(t, pods, 2)
	signals, used := map[string]bool{}, map[string]bool{}
	for _, o := range objects {
		if o.Kind == "Service" {
			assert.Equal(t, 1, selected(pods, o.Spec.Selector), "Service %s", o.Metadata.Name)
		}
		if o.Kind == "PodDisruptionBudget" || o.Kind == "Deployment" || o.Kind == "StatefulSet" {
			assert.Equal(t, 1, selected(pods, o.Spec.Selector["matchLabels"].(map[string]any)), "%s %s", o.Kind, o.Metadata.Name)
		}
		if config := o.Data["config.yaml"]; config != "" {
			validate(t, o.Metadata.Name, config)
			sameAsExample(t, config)
			c := parse(t, config)
			for name, pipeline := range c.Service.Pipelines {
				signal, _, _ := strings.Cut(name, "/")
				signals[signal] = true
				for _, exporter := range pipeline.Exporters {
					if _, connects := c.Connectors[exporter]; !connects {
						used[exporter] = true
					}
				}
			}
			for id := range c.Exporters {
				assert.True(t, used[id], "%s: no pipeline has the exporter %s", o.Metadata.Name, id)
			}
			checkQueues(t, c.Exporters)
			limit := limits[o.Metadata.Labels["app.kubernetes.io/component"]]
			assert.LessOrEqual(t, c.memory(), limit, "%s: docs/operations.md, Memory; MiB", o.Metadata.Name)
		}
		if config := o.Data["haproxy.cfg"]; config != "" {
			validateBalancer(t, config)
		}
	}
	assert.Len(t, signals, 4, "signals with a pipeline")
	delete(used, "kafka") // the chart's own
	assert.Equal(t, exporters, slices.Sorted(maps.Keys(used)), "exporters of the user, and no others")
}

type configuration struct {
	Receivers, Processors, Exporters, Connectors, Extensions map[string]map[string]any

	Service struct {
		Pipelines map[string]struct{ Exporters []string }
	}
}

func parse(t *testing.T, config string) (c configuration) {
	require.NoError(t, yaml.Unmarshal([]byte(config), &c))
	return c
}

// memory returns the sum of all limits as docs/operations.md adds them up, in MiB.
func (c configuration) memory() int {
	limit := func(settings map[string]any, otherwise int, keys ...string) int {
		for _, key := range keys[:len(keys)-1] {
			settings, _ = settings[key].(map[string]any)
		}
		if set, ok := settings[keys[len(keys)-1]].(int); ok {
			return set >> 20
		}
		return otherwise
	}
	sum := 50 + 256 // without traffic, and profile_transform at work
	if sentry, receives := c.Receivers["sentry"]; receives {
		sum += limit(sentry, 320, "max_bytes_in_flight")
	}
	if transform := c.Processors["profile_transform"]; transform["transforms"] == nil {
		sum += limit(transform, 128, "link", "max_held_bytes")*13/10 + limit(transform, 150, "link", "max_index_bytes")
	}
	if symbolicate, used := c.Processors["symbolicate"]; used {
		sum += limit(symbolicate, 64, "store", "max_open_bytes")
	}
	for id, otherwise := range map[string]int{"otlp_limit": 128, "sentry_tee": 64} {
		if extension, used := c.Extensions[id]; used {
			sum += limit(extension, otherwise, "max_bytes_in_flight")
		}
	}
	return sum
}

// checkQueues: exporters keep a connection for each consumer, and their queues are on disk and
// limited in bytes.
func checkQueues(t *testing.T, exporters map[string]map[string]any) {
	for id, settings := range exporters {
		kind, _, _ := strings.Cut(id, "/")
		if kind == "nop" {
			continue
		}
		queue, _ := settings["sending_queue"].(map[string]any)
		assert.Equal(t, "file_storage", queue["storage"], id)
		assert.GreaterOrEqual(t, queue["queue_size"], 64<<20, id)
		if kind == "otlp_http" {
			consumers, set := queue["num_consumers"]
			if !set {
				consumers = 10 // the default
			}
			assert.Equal(t, map[string]any{"max_idle_conns_per_host": consumers}, settings["keepalive"], id)
		}
	}
}

func selected(pods []map[string]string, selector map[string]any) (n int) {
	for _, labels := range pods {
		matches := true
		for key, value := range selector {
			matches = matches && labels[key] == value
		}
		if matches {
			n++
		}
	}
	return n
}

// validate checks a configuration with the built collector.
func validate(t *testing.T, name, config string) {
	collector := os.Getenv("OTELCOL_SENTRY_BIN")
	if collector == "" {
		collector = "../dist/otelcol-sentry"
	}
	if _, err := os.Stat(collector); err != nil {
		t.Skip("no collector (make build): configurations are not checked")
	}
	config = strings.ReplaceAll(config, "/var/lib/otelcol-sentry", t.TempDir())
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o644))
	command := exec.Command(collector, "validate", "--config", path, "--feature-gates=service.profilesSupport")
	command.Env = append(os.Environ(), "INSTANCE="+name+"-0", "TOKEN=secret", "ZONE=eu-1", "SENTRY_DSN=https://0123456789abcdef0123456789abcdef@sentry.example.com/42")
	output, err := command.CombinedOutput()
	assert.NoError(t, err, "%s: %s\n%s", name, output, config)
}

// sameAsExample checks that the chart uses Kafka with the settings of examples/kafka, which a test
// runs against a real broker.
func sameAsExample(t *testing.T, config string) {
	rendered := componentsOf(t, config)
	for _, file := range []string{"config.yaml", "linking.yaml"} {
		example, err := os.ReadFile(filepath.Join("..", "examples", "kafka", file))
		require.NoError(t, err)
		for id, settings := range componentsOf(t, string(example)) {
			got, used := rendered[id]
			if !used || !strings.HasPrefix(id, "kafka") {
				continue
			}
			for _, c := range []map[string]any{settings, got} { // from the values
				delete(c, "brokers")
				delete(c, "group_instance_id")
				if queue, exports := c["sending_queue"].(map[string]any); exports {
					delete(queue, "queue_size")
				}
			}
			assert.Equal(t, settings, got, "%s in examples/kafka/%s and in the chart", id, file)
		}
	}
}

// componentsOf returns the settings of all receivers and exporters by ID.
func componentsOf(t *testing.T, config string) map[string]map[string]any {
	c := parse(t, config)
	maps.Copy(c.Receivers, c.Exporters)
	return c.Receivers
}

// validateBalancer checks the configuration of HAProxy.
func validateBalancer(t *testing.T, config string) {
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		t.Log("no haproxy: the balancer's configuration is not checked; on Debian: apt-get install haproxy")
		return
	}
	folder := t.TempDir()
	writeCertificate(t, filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.crt.key"))
	config = strings.ReplaceAll(config, "/etc/haproxy-tls", folder)
	path := filepath.Join(folder, "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o644))
	output, err := exec.Command(haproxy, "-c", "-f", path).CombinedOutput()
	assert.NoError(t, err, "%s", output)
}

// writeCertificate writes a certificate and its key, as in a Secret.
func writeCertificate(t *testing.T, certificate, key string) {
	server := httptest.NewTLSServer(nil)
	server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		key:         {Type: "PRIVATE KEY", Bytes: private},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
}

// kubernetesSchemas writes JSON schemas for kubeconform, and returns their folder. The sources are
// Kubernetes' own API description and the custom resource definitions of the Prometheus operator.
func kubernetesSchemas(t *testing.T) string {
	folder := t.TempDir()
	var api struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	text, err := os.ReadFile(filepath.Join(moduleDir(t, kubernetesSource), "api", "openapi-spec", "swagger.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &api))
	api.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = map[string]any{"type": []string{"integer", "string"}}
	for _, d := range api.Definitions {
		forbidUnknown(d)
	}
	for name, definition := range api.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		for _, kind := range kinds {
			k := kind.(map[string]any)
			writeSchema(t, folder, k["group"].(string), k["kind"].(string), k["version"].(string), map[string]any{
				"$ref": "definitions.json#/definitions/" + name,
			})
		}
	}
	write(t, filepath.Join(folder, "definitions.json"), map[string]any{"definitions": api.Definitions})

	text, err = os.ReadFile(filepath.Join(moduleDir(t, prometheusOperator), "example", "prometheus-operator-crd", "monitoring.coreos.com_servicemonitors.yaml"))
	require.NoError(t, err)
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &crd))
	monitor := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	forbidUnknown(monitor)
	monitor["properties"].(map[string]any)["metadata"] = map[string]any{"$ref": "definitions.json#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
	writeSchema(t, folder, "monitoring.coreos.com", "ServiceMonitor", "v1", monitor)
	return folder
}

// Modules of which the test reads one file; they are not dependencies of this module.
const (
	kubernetesSource   = "k8s.io/kubernetes@v1.37.2"
	prometheusOperator = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
)

// forbidUnknown makes a schema reject unknown fields, at every level.
func forbidUnknown(schema map[string]any) {
	properties, isObject := schema["properties"].(map[string]any)
	if isObject && schema["additionalProperties"] == nil {
		schema["additionalProperties"] = false
	}
	for _, property := range properties {
		forbidUnknown(property.(map[string]any))
	}
	for _, part := range []string{"items", "additionalProperties"} {
		if inner, found := schema[part].(map[string]any); found {
			forbidUnknown(inner)
		}
	}
}

// writeSchema names the file by kubeconform's parameters {{.ResourceKind}} and {{.KindSuffix}}.
func writeSchema(t *testing.T, folder, group, kind, version string, schema map[string]any) {
	short, _, _ := strings.Cut(group, ".")
	suffix := "-" + version
	if short != "" {
		suffix = "-" + short + suffix
	}
	write(t, filepath.Join(folder, strings.ToLower(kind+suffix)+".json"), schema)
}

func write(t *testing.T, path string, value any) {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

// moduleDir returns the folder of a module version, which it downloads if necessary.
func moduleDir(t *testing.T, module string) string {
	var found struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(run(t, "go", "mod", "download", "-json", module)), &found))
	require.NotEmpty(t, found.Dir)
	return found.Dir
}

// toolPath returns the path of a built tool, which starts faster than with `go tool`.
func toolPath(t *testing.T, name string) string {
	return strings.TrimSpace(run(t, "go", "tool", "-n", name))
}

// run runs a command in this folder and returns its output.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	var errors strings.Builder
	command.Stderr = &errors
	output, err := command.Output()
	require.NoError(t, err, "%s %s: %s\n%s", name, strings.Join(args, " "), output, &errors)
	return string(output)
}
