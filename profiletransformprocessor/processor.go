// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

// profilesProcessor is the component of one profiles pipeline.
type profilesProcessor struct {
	cfg       *Config
	id        component.ID
	logger    *zap.Logger
	telemetry *telemetry
	linking   *linking
	transform transformer
	next      xconsumer.Profiles

	linksProfiles  bool // there are spans to link to
	queue          *waitQueue
	keys           spanlink.Keys
	store          *journal.Journal // nil without storage
	stop           chan struct{}
	sendCtx        context.Context // context for forwarding held messages
	cancelSends    context.CancelFunc
	worker         sync.WaitGroup
	lostAtShutdown atomic.Int64 // profiles refused at shutdown
	shutdownOnce   sync.Once
}

func newProfilesProcessor(cfg *Config, set processor.Settings, next xconsumer.Profiles) (*profilesProcessor, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	linking := acquireLinking(cfg, telemetry, set.Logger)
	linking.profiles++
	sendCtx, cancelSends := context.WithCancel(context.Background())
	return &profilesProcessor{
		cfg: cfg, id: set.ID, logger: collector.LimitLogs(set.Logger), telemetry: telemetry, transform: transformsConfig(cfg.Transforms).transformer(), next: next,
		linking: linking,
		queue:   newWaitQueue(cfg, telemetry),
		keys:    cfg.Link.keys(),
		stop:    make(chan struct{}), sendCtx: sendCtx, cancelSends: cancelSends,
	}, nil
}

// Capabilities states that the processor changes profiles in place.
func (p *profilesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start restores the messages that were held when the collector stopped, and starts the worker that
// releases messages. Without linking, the processor holds no messages, and forwards those of an
// earlier configuration at once.
func (p *profilesProcessor) Start(ctx context.Context, host component.Host) error {
	if p.linksProfiles = p.linking.isActive(); !p.linksProfiles {
		p.queue.wait = 0
	}
	if p.cfg.Storage != nil {
		if p.linking.profiles > 1 {
			return errors.New("storage: cannot be shared by several profiles pipelines; give each pipeline its own processor, e.g. profile_transform/2")
		}
		if err := p.openStore(ctx, host); err != nil {
			return err
		}
		p.restore(ctx)
	}
	p.logger.Info("Processing profiles", zap.Bool("links_to_spans", p.linksProfiles), zap.String("wait", p.queue.wait.String()), collector.StorageField("held", p.cfg.Storage))
	if p.linksProfiles || p.cfg.Batch.enabled() || !p.queue.isEmpty() {
		p.worker.Go(p.releaseDue)
	}
	return nil
}

// Shutdown forwards the held messages, linked to the spans that have arrived, as long as the next
// component accepts them.
func (p *profilesProcessor) Shutdown(ctx context.Context) (err error) {
	p.shutdownOnce.Do(func() {
		close(p.stop)
		defer context.AfterFunc(ctx, p.cancelSends)()
		sendTimeout := time.AfterFunc(shutdownSendTimeout, p.cancelSends)
		p.worker.Wait()
		p.drain(ctx, sendTimeout)
		p.cancelSends()
		err = p.store.Close(ctx)
		p.linking.release(ctx)
	})
	return err
}

// ConsumeProfiles holds profiles that can be linked until their spans have arrived, and profiles of
// a batch until it is complete; later errors are only counted. It forwards other profiles at once
// and returns the error.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	p.telemetry.incoming.Add(ctx, int64(profiles.ProfileCount()))
	profiles, err := p.inCurrentDialect(ctx, profiles)
	if err != nil {
		return err
	}
	canLink := p.linksProfiles && p.cfg.Link.Wait != 0 && p.linking.index.CanLink(tenant.FromContext(ctx).String(), profiles, time.Now())
	if canLink || p.cfg.Batch.enabled() {
		return p.enqueue(ctx, profiles)
	}
	if p.linksProfiles {
		p.linking.link(ctx, tenant.FromContext(ctx).String(), profiles, false)
	}
	return p.forward(ctx, profiles)
}

// inCurrentDialect translates profiles of older versions of OTLP.
func (p *profilesProcessor) inCurrentDialect(ctx context.Context, profiles pprofile.Profiles) (pprofile.Profiles, error) {
	current, translated, err := dialect.Current(profiles)
	if err != nil {
		p.countOutcome(ctx, []pprofile.Profiles{profiles}, outcomeRefused)
		return current, consumererror.NewPermanent(err)
	}
	if translated {
		p.logger.Warn("Profiles of an older OTLP version were translated; update the producer to OTLP 1.10 or later",
			zap.String("producer", dialect.Producer(profiles)))
	}
	return current, nil
}

// forward reshapes profiles and sends them to the next component. The sender receives the error, so
// the next component may change the messages: they are not sent again.
func (p *profilesProcessor) forward(ctx context.Context, profiles pprofile.Profiles) (err error) {
	for _, part := range p.reshape(ctx, profiles) {
		count := int64(part.ProfileCount()) // the next component may empty it
		if refused := p.next.ConsumeProfiles(ctx, part); refused != nil {
			err = errors.Join(err, refused)
			p.telemetry.countOutgoing(ctx, count, outcomeRefused)
			continue
		}
		p.telemetry.countOutgoing(ctx, count, outcomeSent)
		p.queue.accepted()
	}
	return err
}

func (p *profilesProcessor) reshape(ctx context.Context, profiles pprofile.Profiles) []pprofile.Profiles {
	parts, lost := p.transform(profiles)
	p.telemetry.countDropped(ctx, lost)
	return parts
}

// sendResult is the result of sending the parts of a message.
type sendResult struct {
	remaining     []pprofile.Profiles // refused temporarily
	accepted      bool                // at least one part was accepted
	acceptedLater bool                // a part was accepted after another part had been refused
	err           error
}

// send sends messages to the next component. A refused message does not affect the others. The
// profiles of a batch that is refused permanently are sent again, one by one.
func (p *profilesProcessor) send(ctx context.Context, parts []pprofile.Profiles, isBatch bool) (result sendResult) {
	for _, part := range parts {
		count := int64(part.ProfileCount()) // the next component may empty it
		switch err := p.next.ConsumeProfiles(ctx, p.ownedCopy(part)); {
		case err == nil:
			p.telemetry.countOutgoing(ctx, count, outcomeSent)
			p.queue.accepted()
			result.accepted, result.acceptedLater = true, len(result.remaining) > 0
		case collector.IsPermanent(err) && isBatch && count > 1:
			result.add(p.send(ctx, separate([]pprofile.Profiles{part}), false))
		case collector.IsPermanent(err):
			p.telemetry.countOutgoing(ctx, count, outcomeRefused)
			result.err = errors.Join(result.err, err)
		default:
			result.remaining = append(result.remaining, part)
			result.err = errors.Join(result.err, err)
		}
	}
	return result
}

// add adds the result of sending later parts.
func (r *sendResult) add(later sendResult) {
	if later.accepted {
		r.accepted, r.acceptedLater = true, later.acceptedLater || len(r.remaining) > 0
	}
	r.remaining = append(r.remaining, later.remaining...)
	r.err = errors.Join(r.err, later.err)
}

// ownedCopy returns a message that the next component may change, because the original may be
// needed for a retry.
func (p *profilesProcessor) ownedCopy(profiles pprofile.Profiles) pprofile.Profiles {
	if !p.next.Capabilities().MutatesData {
		return profiles
	}
	copied := pprofile.NewProfiles()
	profiles.CopyTo(copied)
	return copied
}

// countOutcome counts the profiles of messages that leave the processor.
func (p *profilesProcessor) countOutcome(ctx context.Context, messages []pprofile.Profiles, o outcome) {
	p.telemetry.countOutgoing(ctx, profilesIn(messages), o)
}

func bytesIn(messages []pprofile.Profiles) (n int64) {
	for _, m := range messages {
		n += int64((&pprofile.ProtoMarshaler{}).ProfilesSize(m))
	}
	return n
}

func profilesIn(messages []pprofile.Profiles) (n int64) {
	for _, m := range messages {
		n += int64(m.ProfileCount())
	}
	return n
}
