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
	tenants tenantKeys
	store   *store // nil without storage
	stop    chan struct{}
	handing context.Context // of what waited and is handed on
	giveUp  context.CancelFunc
	working sync.WaitGroup
	lost    atomic.Int64 // profiles that were refused at shutdown
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
		cfg: cfg, id: set.ID, logger: collector.LimitLogs(set.Logger), telemetry: telemetry, transform: cfg.Transforms.transformer(), next: next,
		linking: linking,
		room:    newWaitingRoom(cfg, telemetry),
		tenants: tenantKeys(cfg.Link.keys().Tenant),
		stop:    make(chan struct{}), handing: handing, giveUp: giveUp,
	}, nil
}

// Capabilities: profiles are changed in place.
func (p *profilesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start lets profiles wait, beginning with those that waited when the collector ended. Without linking, nothing waits, and those from
// an earlier configuration are forwarded at once.
func (p *profilesProcessor) Start(ctx context.Context, host component.Host) error {
	if p.works = p.linking.works(); !p.works {
		p.room.wait = 0
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
	if p.works || !p.room.isEmpty() {
		p.working.Go(p.work)
	}
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
	case p.cfg.Link.Wait == 0 || !p.linking.index.CanLink(profiles, time.Now()):
		p.linking.link(ctx, profiles, false)
		return p.handOn(ctx, profiles)
	}
	return p.hold(ctx, profiles)
}

// handOn reshapes profiles and gives them to the next consumer.
func (p *profilesProcessor) handOn(ctx context.Context, profiles pprofile.Profiles) error {
	result := p.give(ctx, p.reshape(ctx, profiles))
	if len(result.left) > 0 {
		p.count(ctx, result.left, outcomeRefused)
	}
	return result.err
}

func (p *profilesProcessor) reshape(ctx context.Context, profiles pprofile.Profiles) []pprofile.Profiles {
	parts, lost := p.transform(profiles)
	p.telemetry.lost(ctx, lost)
	return parts
}

// attempt is what the next consumer did with the parts of a message.
type attempt struct {
	left     []pprofile.Profiles // it may take them later
	accepted bool                // it accepted some
	others   bool                // it accepted one after it had refused another
	err      error
}

// give gives messages to the next consumer. One that is refused does not cost the others.
func (p *profilesProcessor) give(ctx context.Context, parts []pprofile.Profiles) (a attempt) {
	for _, part := range parts {
		count := int64(part.ProfileCount()) // the next consumer may empty it
		switch err := p.next.ConsumeProfiles(ctx, p.toGiveAway(part)); {
		case err == nil:
			p.telemetry.left(ctx, count, outcomeSent)
			p.room.accepted()
			a.accepted, a.others = true, len(a.left) > 0
		case consumererror.IsPermanent(err):
			p.telemetry.left(ctx, count, outcomeRefused)
			a.err = errors.Join(a.err, err)
		default:
			a.left = append(a.left, part)
			a.err = errors.Join(a.err, err)
		}
	}
	return a
}

// toGiveAway is a message that its next consumer may change, as it may be needed again.
func (p *profilesProcessor) toGiveAway(profiles pprofile.Profiles) pprofile.Profiles {
	if !p.next.Capabilities().MutatesData {
		return profiles
	}
	copied := pprofile.NewProfiles()
	profiles.CopyTo(copied)
	return copied
}

// count counts what becomes of messages that this is the end of.
func (p *profilesProcessor) count(ctx context.Context, messages []pprofile.Profiles, o outcome) {
	p.telemetry.left(ctx, profilesIn(messages), o)
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
