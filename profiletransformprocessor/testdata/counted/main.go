// SPDX-License-Identifier: Apache-2.0

// Command counted measures how the work of the queue of held messages grows: holding, evicting,
// batching, refusing and delivering.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/collector/processor/xprocessor"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profiletransformprocessor"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// sink counts messages, or refuses them.
type sink struct {
	consumertest.Consumer
	refuses  atomic.Bool
	profiles atomic.Int64
}

func (s *sink) ConsumeProfiles(_ context.Context, p pprofile.Profiles) error {
	if s.refuses.Load() {
		return errors.New("refused")
	}
	for _, r := range p.ResourceProfiles().All() {
		for _, scope := range r.ScopeProfiles().All() {
			s.profiles.Add(int64(scope.Profiles().Len()))
		}
	}
	return nil
}

// queue is a running processor.
type queue struct {
	xprocessor.Profiles
	traces processor.Traces // without which profiles do not wait
	sink   *sink
}

func start(change func(*profiletransformprocessor.Config)) *queue {
	f := profiletransformprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*profiletransformprocessor.Config)
	cfg.Link.Wait, cfg.Link.MaxHeldProfiles = time.Hour, 1<<20
	change(cfg)
	q := &queue{sink: &sink{Consumer: consumertest.NewNop()}}
	var err error
	q.Profiles, err = f.(xprocessor.Factory).CreateProfiles(context.Background(), processortest.NewNopSettings(f.Type()), cfg, q.sink)
	check(err)
	q.traces, err = f.CreateTraces(context.Background(), processortest.NewNopSettings(f.Type()), cfg, consumertest.NewNop())
	check(err)
	check(q.Start(context.Background(), componenttest.NewNopHost()))
	check(q.traces.Start(context.Background(), componenttest.NewNopHost()))
	return q
}

func (q *queue) stop() {
	check(q.traces.Shutdown(context.Background()))
	check(q.Shutdown(context.Background()))
}

// add adds the ith message, of one of some tenants.
func (q *queue) add(i, tenants int) {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	r := p.ResourceProfiles().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", fmt.Sprint("service ", i%tenants))
	profile := r.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	dictionary.SetValueType(profile.SampleType(), b.String("samples"), b.String("count"))
	dictionary.SetAttributes(profile.AttributeIndices(), b.AttrString("sentry.profiler_id", fmt.Sprintf("%032x", i%tenants+1)))
	sample := profile.Samples().AppendEmpty()
	sample.TimestampsUnixNano().Append(uint64(i + 1))
	sample.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Address: uint64(i)})})))
	dictionary.SetAttributes(sample.AttributeIndices(), b.AttrString("thread.id", "1"))
	b.Finish()
	b.Release()
	ctx := tenant.NewContext(context.Background(), tenant.Tenant{Ingress: tenant.Sentry, Name: fmt.Sprint(i % tenants)})
	if err := q.ConsumeProfiles(ctx, p); err != nil && !q.sink.refuses.Load() {
		log.Fatal(err)
	}
}

// delivered waits until a number of profiles is delivered.
func (q *queue) delivered(n int) {
	for q.sink.profiles.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
}

func main() {
	operations := map[string]counted.Operation{}
	var running *queue
	begin := func(change func(*profiletransformprocessor.Config)) *queue {
		if running != nil {
			running.sink.refuses.Store(false)
			running.stop()
		}
		running = start(change)
		return running
	}
	type config = profiletransformprocessor.Config
	for tenants, of := range map[int]string{1: "one tenant", 10: "10 tenants", 1 << 20: "different tenants"} {
		operations["hold, "+of] = func(n int) func() {
			q := begin(func(*config) {})
			return func() {
				for i := range n {
					q.add(i, tenants)
				}
			}
		}
		operations["deliver early, because the queue is full, "+of] = func(n int) func() {
			q := begin(func(c *config) { c.Link.MaxHeldProfiles = n })
			for i := range n {
				q.add(i, tenants)
			}
			return func() {
				for i := range n {
					q.add(n+i, tenants)
				}
			}
		}
		operations["deliver when due, "+of] = func(n int) func() {
			q := begin(func(c *config) { c.Link.Wait = 500 * time.Millisecond })
			for i := range n {
				q.add(i, tenants)
			}
			return func() { q.delivered(n) }
		}
		operations["batch, "+of] = func(n int) func() {
			q := begin(func(c *config) { c.Link.Wait, c.Batch.Timeout = time.Millisecond, 100*time.Millisecond })
			return func() {
				for i := range n {
					q.add(i, tenants)
				}
				q.delivered(n)
			}
		}
		operations["refused and full, "+of] = func(n int) func() {
			q := begin(func(c *config) { c.Link.MaxHeldProfiles = n })
			q.sink.refuses.Store(true)
			for i := range n {
				q.add(i, tenants)
			}
			return func() {
				for i := range n {
					q.add(n+i, tenants)
				}
			}
		}
		operations["deliver at shutdown, "+of] = func(n int) func() {
			q := begin(func(*config) {})
			for i := range n {
				q.add(i, tenants)
			}
			return func() {
				q.stop()
				running = nil
			}
		}
	}
	counted.Main(1000, operations)
}
