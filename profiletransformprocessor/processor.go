package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/loglimit"
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

	works   bool // profiles are linked
	room    *waitingRoom
	store   *store // nil without storage
	stop    chan struct{}
	handing context.Context // of what waited and is handed on
	giveUp  context.CancelFunc
	working sync.WaitGroup
	over    sync.Once
}

func newProfilesProcessor(cfg *Config, set processor.Settings, next xconsumer.Profiles) (*profilesProcessor, error) {
	telemetry, err := newTelemetry(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	linking := acquireLinking(cfg, telemetry, set.Logger)
	linking.profiles++
	handing, giveUp := context.WithCancel(context.Background())
	return &profilesProcessor{
		cfg: cfg, id: set.ID, logger: loglimit.Wrap(set.Logger), telemetry: telemetry, transform: cfg.Transforms.transformer(), next: next,
		linking: linking,
		room:    &waitingRoom{maxCount: cfg.Link.MaxHeldProfiles, maxBytes: cfg.Link.MaxHeldBytes, telemetry: telemetry},
		stop:    make(chan struct{}), handing: handing, giveUp: giveUp,
	}, nil
}

// Capabilities: profiles are changed in place.
func (p *profilesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start lets profiles wait, beginning with those that waited when the collector crashed.
func (p *profilesProcessor) Start(ctx context.Context, host component.Host) error {
	if p.works = p.linking.works(); !p.works {
		return nil
	}
	if p.cfg.Storage != nil {
		if p.linking.profiles > 1 {
			return errors.New("storage: cannot tell apart what waits in several profiles pipelines; give each a processor of its own, as in profile_transform/2")
		}
		var err error
		if p.store, err = openStore(ctx, host, *p.cfg.Storage, p.id); err != nil {
			return err
		}
		if err = p.restore(ctx); err != nil {
			return err
		}
	}
	p.working.Go(p.work)
	return nil
}

// Shutdown hands on what waits, linked to the spans that have come, as long as the next consumer takes it.
func (p *profilesProcessor) Shutdown(ctx context.Context) (err error) {
	p.over.Do(func() {
		close(p.stop)
		defer context.AfterFunc(ctx, p.giveUp)()
		patience := time.AfterFunc(shutdownPatience, p.giveUp)
		p.working.Wait()
		p.releaseAll(ctx, patience)
		p.giveUp()
		err = p.store.close(ctx)
		p.linking.release(ctx)
	})
	return err
}

// ConsumeProfiles takes profiles over. Those that could be linked wait for their spans; an error of theirs later on is counted.
// Others go on at once, with their error.
func (p *profilesProcessor) ConsumeProfiles(ctx context.Context, profiles pprofile.Profiles) error {
	p.telemetry.incoming.Add(ctx, int64(profiles.ProfileCount()))
	switch {
	case !p.works:
		return p.handOn(ctx, profiles)
	case p.cfg.Link.Wait == 0 || !p.linking.index.Concerns(profiles):
		p.linking.link(ctx, profiles, false)
		return p.handOn(ctx, profiles)
	}
	return p.hold(ctx, profiles)
}

// handOn reshapes profiles and gives them to the next consumer. Of several messages, one that is refused does not cost the
// others.
func (p *profilesProcessor) handOn(ctx context.Context, profiles pprofile.Profiles) error {
	parts, lost := p.transform(profiles)
	p.telemetry.lost(ctx, lost)
	var errs error
	for _, part := range parts {
		count := int64(part.ProfileCount())
		err := p.next.ConsumeProfiles(ctx, part)
		if err != nil {
			p.telemetry.left(ctx, count, outcomeRefused)
			errs = errors.Join(errs, err)
			continue
		}
		p.telemetry.left(ctx, count, outcomeSent)
	}
	return errs
}
