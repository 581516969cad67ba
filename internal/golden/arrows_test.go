package golden

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArrows keeps the picture of the packages true: what each may know.
func TestArrows(t *testing.T) {
	const module = "github.com/otelcol-sentry/otelcol-sentry/internal/"
	for _, rule := range []struct{ from, never string }{
		{"sentry", "go.opentelemetry.io/"},
		{"sentry", module + "dictionary"},
		{"measure", "go.opentelemetry.io/"},
		{"measure", module + "sentry"},
		{"measure", "net/http"},
		{"dictionary", module + "sentry"},
		{"dictionary", module + "translate"},
		{"dictionary", "net/http"},
		{"timeline", module + "sentry"},
		{"flame", module + "sentry"},
		{"timeline", module + "translate"},
		{"pprofexport", module + "translate"},
		{"speedscope", module + "translate"},
		{"transform", module + "sentry"},
		{"transform", module + "translate"},
		{"transform", "net/http"},
		{"transform", "go.uber.org/zap"},
		{"transform", "go.opentelemetry.io/collector/component"},
		{"spanlink", module + "sentry"},
		{"spanlink", module + "translate"},
		{"spanlink", "net/http"},
		{"spanlink", "go.uber.org/zap"},
		{"spanlink", "go.opentelemetry.io/collector/component"},
		{"translate", "net/http"},
		{"translate", "go.uber.org/zap"},
		{"translate", "go.opentelemetry.io/collector/component"},
	} {
		list := exec.Command("go", "list", "-deps", module+rule.from)
		list.Dir = Root(t)
		dependencies, err := list.Output()
		require.NoError(t, err)
		for _, dependency := range strings.Fields(string(dependencies)) {
			reached := dependency == rule.never || strings.HasPrefix(dependency, strings.TrimSuffix(rule.never, "/")+"/")
			require.False(t, reached && dependency != module+rule.from, "%s reaches %s", rule.from, dependency)
		}
	}
}
