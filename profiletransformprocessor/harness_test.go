package profiletransformprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/processor/xprocessor"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// harness is a processor in both pipelines, and what comes out of them.
type harness struct {
	t            *testing.T
	profiles     xprocessor.Profiles
	traces       processor.Traces
	profilesSink *consumertest.ProfilesSink
	tracesSink   *consumertest.TracesSink
	metrics      *componenttest.Telemetry
}

// start runs the processor with a configuration, in YAML, until the end of the test.
func start(t *testing.T, config string) *harness {
	t.Helper()
	cfg, err := load(t, config)
	require.NoError(t, err)
	h := &harness{
		t: t, profilesSink: &consumertest.ProfilesSink{}, tracesSink: &consumertest.TracesSink{},
		metrics: componenttest.NewTelemetry(),
	}
	f := NewFactory()
	set := processortest.NewNopSettings(f.Type())
	set.TelemetrySettings = h.metrics.NewTelemetrySettings()
	h.profiles, err = f.CreateProfiles(t.Context(), set, cfg, h.profilesSink)
	require.NoError(t, err)
	h.traces, err = f.CreateTraces(t.Context(), set, cfg, h.tracesSink)
	require.NoError(t, err)
	for _, c := range []component.Component{h.profiles, h.traces} {
		require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
		t.Cleanup(func() { require.NoError(t, c.Shutdown(context.Background())) })
	}
	t.Cleanup(func() { require.NoError(t, h.metrics.Shutdown(context.Background())) })
	return h
}

// oneProfile is a message with one observation.
func oneProfile() pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	profile := p.ResourceProfiles().AppendEmpty().ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	profile.SetTime(1000)
	profile.SetDurationNano(1000)
	profile.Samples().AppendEmpty().TimestampsUnixNano().Append(1500)
	b.Finish()
	return p
}

// idleAndBusy is a message with a profile in which the thread was idle, and one in which it was not.
func idleAndBusy() pprofile.Profiles {
	p := oneProfile()
	profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
	busy := profiles.AppendEmpty()
	profiles.At(0).CopyTo(busy)
	e := dictionary.NewEditor(p.Dictionary())
	stack := e.Stack([]dictionary.LocationIndex{e.Location(dictionary.Location{Address: 1})})
	busy.Samples().At(0).SetStackIndex(int32(stack))
	return p
}
