// SPDX-License-Identifier: Apache-2.0

// Package topfunctions is an exporter that logs the functions with the most observations. It shows
// how a component of another repository reads profiles.
package topfunctions

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.opentelemetry.io/collector/exporter/xexporter"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Config has no settings.
type Config struct{}

// NewFactory returns the factory of the exporter.
func NewFactory() exporter.Factory {
	return xexporter.NewFactory(component.MustNewType("top_functions"), func() component.Config { return &Config{} },
		xexporter.WithProfiles(create, component.StabilityLevelDevelopment))
}

func create(ctx context.Context, set exporter.Settings, cfg component.Config) (xexporter.Profiles, error) {
	return xexporterhelper.NewProfiles(ctx, set, cfg, func(_ context.Context, message pprofile.Profiles) error {
		set.Logger.Info("Top functions", zap.Strings("functions", Top(message, 3)), zap.Int("violations", len(conformance.Check(message))))
		return nil
	})
}

// Top returns the n functions that are most often at the leaf of a stack.
func Top(message pprofile.Profiles, n int) []string {
	view, counts := dictionary.NewView(message.Dictionary()), map[string]int{}
	for _, resource := range message.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					if name := leaf(view, sample); name != "" {
						counts[name] += max(sample.TimestampsUnixNano().Len(), 1)
					}
				}
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

// leaf returns the name of the innermost function, or "" if the thread was idle or the name is
// unknown.
func leaf(view dictionary.View, sample pprofile.Sample) string {
	stack, _ := view.Stack(dictionary.StackIndex(sample.StackIndex()), nil)
	var location dictionary.Location
	if len(stack) == 0 || !view.Location(stack[0], &location) || len(location.Lines) == 0 {
		return ""
	}
	function, _ := view.Function(location.Lines[0].Function)
	return view.Text(function.Name)
}
