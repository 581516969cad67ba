// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
)

// tracesProcessor is the component of one traces pipeline.
type tracesProcessor struct {
	linking *linking
	next    consumer.Traces
	works   bool
	over    sync.Once
}

func newTracesProcessor(cfg *Config, set processor.Settings, next consumer.Traces) (*tracesProcessor, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	linking := acquireLinking(cfg, telemetry, set.Logger)
	linking.traces++
	return &tracesProcessor{linking: linking, next: next}, nil
}

// Capabilities: traces are only looked at.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// Start finds out whether spans are of use.
func (p *tracesProcessor) Start(context.Context, component.Host) error {
	p.works = p.linking.works()
	return nil
}

// Shutdown leaves the spans to the profiles that still wait for theirs.
func (p *tracesProcessor) Shutdown(ctx context.Context) error {
	p.over.Do(func() { p.linking.release(ctx) })
	return nil
}

// ConsumeTraces hands traces on as they are.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	if p.works {
		p.linking.addTraces(ctx, traces)
	}
	return p.next.ConsumeTraces(ctx, traces)
}
