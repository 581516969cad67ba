// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// One of the two pipelines is missing: everything passes, and a line in the log says so, once.
func TestOnePipelineOnly(t *testing.T) {
	for name, create := range map[string]func(*harness, *Config, *zap.Logger) []component.Component{
		"profiles": func(h *harness, cfg *Config, logger *zap.Logger) []component.Component {
			set := h.settings()
			set.Logger = logger
			one, err := createProfiles(t.Context(), set, cfg, h.sink)
			require.NoError(t, err)
			two, err := createProfiles(t.Context(), set, cfg, h.sink)
			require.NoError(t, err)
			h.profiles = one
			return []component.Component{one, two}
		},
		"traces": func(h *harness, cfg *Config, logger *zap.Logger) []component.Component {
			set := h.settings()
			set.Logger = logger
			one, err := NewFactory().CreateTraces(t.Context(), set, cfg, h.passed)
			require.NoError(t, err)
			two, err := NewFactory().CreateTraces(t.Context(), set, cfg, h.passed)
			require.NoError(t, err)
			h.traces = one
			return []component.Component{one, two}
		},
	} {
		for config, warnings := range map[string]int{"": 1, "link: {enabled: false}": 0} {
			t.Run(name+" "+config, func(t *testing.T) {
				cfg, err := load(t, config)
				require.NoError(t, err)
				core, logs := observer.New(zapcore.WarnLevel)
				h := &harness{t: t, sink: &profilesSink{}, passed: &consumertest.TracesSink{}, metrics: componenttest.NewTelemetry()}
				defer func() { require.NoError(t, h.metrics.Shutdown(context.Background())) }()
				for _, c := range create(h, cfg, zap.New(core)) {
					require.NoError(t, c.Start(t.Context(), h.host()))
					defer func() { require.NoError(t, c.Shutdown(context.Background())) }()
				}
				if h.profiles != nil {
					require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
					assert.Equal(t, map[uint64]byte{1500: 0, 2500: 0}, linksOf(h.received(1)[0]))
				} else {
					require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
					assert.Len(t, h.passed.AllTraces(), 1)
					assert.Empty(t, h.counts("index_spans"), "for no profiles")
				}
				assert.Equal(t, warnings, logs.Len())
			})
		}
	}
}
