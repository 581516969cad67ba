package profiletransformprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// tracesProcessor is the component of one traces pipeline.
type tracesProcessor struct {
	component.StartFunc
	component.ShutdownFunc
	next consumer.Traces
}

// Capabilities: traces are only looked at.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

// ConsumeTraces passes traces on.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	return p.next.ConsumeTraces(ctx, traces)
}
