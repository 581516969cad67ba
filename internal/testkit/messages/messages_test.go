// SPDX-License-Identifier: Apache-2.0

package messages

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/processor/xprocessor"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"

	"github.com/otelcol-sentry/otelcol-sentry/configcheckconverter"
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

// TestMessages compares each message of a component, as a whole.
func TestMessages(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	defer taken.Close()
	inUse := taken.Addr().String()
	Check(t, false, func(e Entry) string {
		if err := firstError(t, e, inUse); err != nil {
			return strings.ReplaceAll(err.Error(), inUse, "IN_USE")
		}
		return ""
	})
}

// firstError returns the error of the first step that fails.
func firstError(t *testing.T, e Entry, inUse string) error {
	t.Helper()
	sections, err := validate(t, e, inUse)
	if err != nil {
		return err
	}
	for _, s := range []*section{sections.Receivers, sections.Processors, sections.Exporters, sections.Extensions} {
		for id, cfg := range s.configs {
			return start(t.Context(), s.factories[id.Type()], id, cfg, e.TwoPipelines)
		}
	}
	return nil
}

// validate takes the steps of the collector's command of that name: it converts, decodes and
// validates the configuration. Of whole configurations, it does the first only, because most
// components are not ours.
func validate(t *testing.T, e Entry, inUse string) (*collectorSections, error) {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(strings.ReplaceAll(e.YAML(), "IN_USE", inUse)))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err, e.YAML())
	sections := collectorSections{
		Receivers:  &section{factories: factories(measurereceiver.NewFactory(), sentryreceiver.NewFactory())},
		Processors: &section{factories: factories(profiletransformprocessor.NewFactory(), symbolicateprocessor.NewFactory())},
		Exporters:  &section{factories: factories(profileviewerexporter.NewFactory(), sentryexporter.NewFactory())},
		Extensions: &section{factories: factories(fastgzipextension.NewFactory(), otlplimitextension.NewFactory(), profiledialectextension.NewFactory(), sentryteeextension.NewFactory())},
	}
	if err := configcheckconverter.NewFactory().Create(confmap.ConverterSettings{}).Convert(t.Context(), conf); err != nil || e.Kind == Whole {
		return &sections, err
	}
	if err := conf.Unmarshal(&sections); err != nil {
		return nil, err
	}
	// As the collector's struct, whose field names are the first part of a path.
	return &sections, confmap.Validate(struct {
		Receivers, Processors, Exporters, Extensions map[component.ID]component.Config
	}{sections.Receivers.configs, sections.Processors.configs, sections.Exporters.configs, sections.Extensions.configs})
}

// collectorSections decode as the collector's configuration does, with the same errors.
type collectorSections struct {
	Receivers  *section `mapstructure:"receivers"`
	Processors *section `mapstructure:"processors"`
	Exporters  *section `mapstructure:"exporters"`
	Extensions *section `mapstructure:"extensions"`
}

type section struct {
	factories map[component.Type]component.Factory
	configs   map[component.ID]component.Config
}

func factories(list ...component.Factory) map[component.Type]component.Factory {
	byType := map[component.Type]component.Factory{}
	for _, factory := range list {
		byType[factory.Type()] = factory
	}
	return byType
}

// Unmarshal implements confmap.Unmarshaler as the collector does, in otelcol's configunmarshaler.
func (s *section) Unmarshal(conf *confmap.Conf) error {
	s.configs = map[component.ID]component.Config{}
	raw := map[component.ID]map[string]any{}
	if err := conf.Unmarshal(&raw); err != nil {
		return err
	}
	for id := range raw {
		factory, known := s.factories[id.Type()]
		if !known {
			return fmt.Errorf("unknown type: %q", id.Type())
		}
		sub, err := conf.Sub(id.String())
		if err != nil {
			return err
		}
		cfg := factory.CreateDefaultConfig()
		if err := sub.Unmarshal(&cfg); err != nil {
			return fmt.Errorf("error reading configuration for %q: %w", id, err)
		}
		s.configs[id] = cfg
	}
	return nil
}

// start creates the component for one or two pipelines of profiles, and starts it without
// extensions.
func start(ctx context.Context, factory component.Factory, id component.ID, cfg component.Config, twoPipelines bool) error {
	created, err := create(ctx, factory, id, cfg)
	if err != nil {
		return err
	}
	if twoPipelines {
		second, err := create(ctx, factory, id, cfg)
		if err != nil {
			return err
		}
		defer func() { _ = second.Shutdown(ctx) }()
	}
	return errors.Join(created.Start(ctx, componenttest.NewNopHost()), created.Shutdown(ctx))
}

func create(ctx context.Context, factory component.Factory, id component.ID, cfg component.Config) (component.Component, error) {
	switch factory := factory.(type) {
	case xreceiver.Factory:
		set := receivertest.NewNopSettings(factory.Type())
		set.ID = id
		return factory.CreateProfiles(ctx, set, cfg, consumertest.NewNop())
	case xprocessor.Factory:
		set := processortest.NewNopSettings(factory.Type())
		set.ID = id
		return factory.CreateProfiles(ctx, set, cfg, consumertest.NewNop())
	case xexporter.Factory:
		set := exportertest.NewNopSettings(factory.Type())
		set.ID = id
		return factory.CreateProfiles(ctx, set, cfg)
	}
	return factory.(extension.Factory).Create(ctx, extension.Settings{ID: id, TelemetrySettings: componenttest.NewNopTelemetrySettings()}, cfg)
}
