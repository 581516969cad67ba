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
	linking      *linking
	next         consumer.Traces
	indexesSpans bool
	shutdownOnce sync.Once
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

// Capabilities states that the processor does not change traces.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// Start determines whether spans are needed.
func (p *tracesProcessor) Start(context.Context, component.Host) error {
	p.indexesSpans = p.linking.isActive()
	return nil
}

// Shutdown does not drop spans, because held profiles may still need them.
func (p *tracesProcessor) Shutdown(ctx context.Context) error {
	p.shutdownOnce.Do(func() { p.linking.release(ctx) })
	return nil
}

// ConsumeTraces indexes the spans and forwards traces unchanged.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	if p.indexesSpans {
		p.linking.addTraces(ctx, traces)
	}
	return p.next.ConsumeTraces(ctx, traces)
}
