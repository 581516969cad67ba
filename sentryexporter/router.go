// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// router sends each resource of a message to the exporter of its project. It is the exporter of one
// signal for the collector.
type router struct {
	routes   []route
	projects []*sentryExporter // the first one is the default

	rejections atomic.Int64 // number of projects whose key Sentry rejects
}

// route is an entry of "dsns".
type route struct {
	patterns map[string]*regexp.Regexp // by resource attribute
	project  int                       // index of router.projects
}

// newRouter creates the exporters of all projects. addQueues adds the queues of the signal to each.
func newRouter(cfg *Config, set exporter.Settings, addQueues func(*sentryExporter) error) (*router, error) {
	r := &router{}
	index := map[string]int{} // in projects, by name
	add := func(key string, text configopaque.String) (int, error) {
		dsn, err := sentry.ParseDSN(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", key, err)
		}
		name := projectName(dsn)
		if _, known := index[name]; known {
			return index[name], nil
		}
		e, err := newSentryExporter(r, cfg, set, dsn)
		if err != nil {
			return 0, err
		}
		index[name] = len(r.projects)
		r.projects = append(r.projects, e)
		return index[name], addQueues(e)
	}
	if _, err := add("dsn", cfg.DSN); err != nil {
		return nil, err
	}
	for i, config := range cfg.DSNs {
		project, err := add(fmt.Sprintf("dsns[%d]::dsn", i), config.DSN)
		if err != nil {
			return nil, err
		}
		r.routes = append(r.routes, newRoute(config.Match, project))
	}
	return r, nil
}

func newRoute(match map[string]string, project int) route {
	patterns := map[string]*regexp.Regexp{}
	for key, pattern := range match {
		patterns[key] = anyOf([]string{pattern})
	}
	return route{patterns, project}
}

func (r *route) matches(resource pcommon.Map) bool {
	for key, pattern := range r.patterns {
		value, present := resource.Get(key)
		if !present || !pattern.MatchString(value.AsString()) {
			return false
		}
	}
	return true
}

// projectOf returns the index of a resource's project.
func (r *router) projectOf(resource pcommon.Map) int {
	for i := range r.routes {
		if r.routes[i].matches(resource) {
			return r.routes[i].project
		}
	}
	return 0
}

// resources are the resources of a message: pdata has a type of its own for each signal.
type resources[R interface{ Resource() pcommon.Resource }] interface {
	Len() int
	At(int) R
}

// split calls consume with the parts of a message, a part for each project. A message that belongs
// to one project is not copied. partOf returns a message with some of the resources.
//
// If only some projects accept their part, a repeated message would duplicate data in these
// projects, for as long as the outage of the others lasts. The refused parts are then dropped and
// counted, and this is no error (see convert.go).
func split[M any, R interface{ Resource() pcommon.Resource }](
	ctx context.Context, r *router, message M, all resources[R],
	partOf func(positions []int) M, consume func(*sentryExporter, context.Context, M) error,
) error {
	if len(r.routes) == 0 {
		return consume(r.projects[0], ctx, message)
	}
	positions := make([][]int, len(r.projects)) // of resources, by project
	for i := range all.Len() {
		project := r.projectOf(all.At(i).Resource().Attributes())
		positions[project] = append(positions[project], i)
	}
	var failed error
	refused := map[*sentryExporter]error{}
	accepted := false
	for project, of := range positions {
		part := message
		switch len(of) {
		case 0:
			continue
		case all.Len():
		default:
			part = partOf(of)
		}
		e := r.projects[project]
		err := consume(e, ctx, part)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("project %s: %w", e.project, err))
			refused[e] = err
			e.logger.Error("Data refused", zap.Error(err))
		}
		accepted = accepted || err == nil
	}
	if failed == nil || !accepted {
		return failed
	}
	counted := true
	for e, err := range refused {
		counted = e.dropNotQueued(ctx, err) && counted
	}
	if counted {
		return nil
	}
	return consumererror.NewPermanent(failed) // the sender has disconnected
}

// Capabilities implements consumer.Profiles, consumer.Traces, consumer.Logs and consumer.Metrics.
func (*router) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// Start implements component.Component.
func (r *router) Start(ctx context.Context, host component.Host) error {
	for _, e := range r.projects {
		if err := e.Start(ctx, host); err != nil {
			return err
		}
	}
	return nil
}

// Shutdown implements component.Component. Each project may have posts that wait for a response.
func (r *router) Shutdown(ctx context.Context) error {
	var wait sync.WaitGroup
	problems := make([]error, len(r.projects))
	for i, e := range r.projects {
		wait.Go(func() { problems[i] = e.Shutdown(ctx) })
	}
	wait.Wait()
	return errors.Join(problems...)
}
