// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
	schemas := kubernetesSchemas(t)
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 5)
	for _, values := range files {
		t.Run(strings.TrimSuffix(filepath.Base(values), ".yaml"), func(t *testing.T) {
			run(t, "go", "tool", "helm", "lint", "--strict", "--kube-version", kubernetes, "--values", values, chart)
			manifests := run(t, "go", "tool", "helm", "template", "shop", chart, "--kube-version", kubernetes, "--values", values)
			path := filepath.Join(t.TempDir(), "manifests.yaml")
			require.NoError(t, os.WriteFile(path, []byte(manifests), 0o644))
			summary := run(t, "go", "tool", "kubeconform", "-strict", "-summary", "-schema-location", schemas+"/{{.ResourceKind}}{{.KindSuffix}}.json", path)
			assert.Contains(t, summary, "Invalid: 0, Errors: 0, Skipped: 0", "of %s", values)
			checkObjects(t, manifests)
		})
	}
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
		}
	}
}

// checkObjects checks relations between objects that no schema describes: selectors select pods,
// and pods run with valid configurations.
func checkObjects(t *testing.T, manifests string) {
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
	for _, o := range objects {
		if labels := o.Spec.Template.Metadata.Labels; labels != nil {
			pods = append(pods, labels)
		}
	}
	require.Len(t, pods, 2)
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
		}
		if config := o.Data["haproxy.cfg"]; config != "" {
			validateBalancer(t, config)
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
	command.Env = append(os.Environ(), "INSTANCE="+name+"-0", "TOKEN=secret", "SENTRY_DSN=https://0123456789abcdef0123456789abcdef@sentry.example.com/42")
	output, err := command.CombinedOutput()
	assert.NoError(t, err, "%s: %s\n%s", name, output, config)
}

// sameAsExample checks that the chart uses Kafka with the settings of examples/kafka, which a test
// runs against a real broker.
func sameAsExample(t *testing.T, config string) {
	rendered := componentsOf(t, []byte(config))
	for _, file := range []string{"config.yaml", "linking.yaml"} {
		example, err := os.ReadFile(filepath.Join("..", "examples", "kafka", file))
		require.NoError(t, err)
		for id, settings := range componentsOf(t, example) {
			got, used := rendered[id]
			if !used || !strings.HasPrefix(id, "kafka") {
				continue
			}
			for _, own := range []string{"brokers", "group_instance_id"} { // from the values
				delete(settings, own)
				delete(got, own)
			}
			assert.Equal(t, settings, got, "%s in examples/kafka/%s and in the chart", id, file)
		}
	}
}

// componentsOf returns the settings of all receivers and exporters by ID.
func componentsOf(t *testing.T, config []byte) map[string]map[string]any {
	var parsed struct{ Receivers, Exporters map[string]map[string]any }
	require.NoError(t, yaml.Unmarshal(config, &parsed))
	maps.Copy(parsed.Receivers, parsed.Exporters)
	return parsed.Receivers
}

// validateBalancer checks the configuration of HAProxy.
func validateBalancer(t *testing.T, config string) {
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		t.Log("no haproxy: the balancer's configuration is not checked; on Debian: apt-get install haproxy")
		return
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o644))
	output, err := exec.Command(haproxy, "-c", "-f", path).CombinedOutput()
	assert.NoError(t, err, "%s", output)
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
