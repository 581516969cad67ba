// SPDX-License-Identifier: Apache-2.0

// Package notices passes information for new users from the components of a process to the viewer
// in the same process: which addresses SDKs can send to, and why data was rejected. Metrics have
// the complete counts; the collector offers components no way to read each other's.
package notices

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/broadcast"
)

// Notice is a reason why a component could not use data.
type Notice struct {
	Component string // ID, e.g. sentry/2
	Service   string // whose data it was; "" if it is not known, or one of many
	Subject   string // kind of data, e.g. requests
	Reason    string // as in the metrics
	Detail    string // of the latest case
	Count     int64
	Last      time.Time
}

// Endpoint is an address that a component listens on.
type Endpoint struct {
	Kind string // see KindDSN and KindSpotlight
	URL  string
}

// Kinds of endpoints.
const (
	KindDSN       = "dsn"       // the DSN for an SDK
	KindSpotlight = "spotlight" // for an SDK without a DSN
)

const (
	// maxNotices is far above the number of reasons: all parts of a key but the service are
	// constants or from the configuration.
	maxNotices = 200
	// maxServices is the maximum number of services for each reason, and maxNamed of notices with a
	// service: clients choose the names.
	maxServices = 20
	maxNamed    = 400
	// maxDetail is enough for a sentence. Details may contain text from clients.
	maxDetail = 300
)

// Board holds notices and endpoints.
type Board struct {
	mu        sync.Mutex
	notices   map[key]*Notice
	services  map[problem]int // numbers of notices with a service
	named     int             // all of these
	endpoints map[*Endpoint]struct{}
	held      map[string]*held // by component
	version   int64
	changed   broadcast.Change
}

// held are messages that a component holds back.
type held struct {
	messages int64
	wait     time.Duration
}

type (
	problem struct{ component, subject, reason string }
	key     struct {
		problem
		service string
	}
)

// Shared is the board of the process.
var Shared = &Board{}

// Report adds cases to the notice with the same component, subject, reason and service. It reports
// whether they are the first, of any service.
func (b *Board) Report(n Notice) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := problem{n.Component, n.Subject, n.Reason}
	k := key{p, strings.ToValidUTF8(n.Service[:min(len(n.Service), maxDetail)], "")}
	if b.notices[k] == nil && k.service != "" && (b.services[p] >= maxServices || b.named >= maxNamed) {
		k.service = ""
	}
	known := b.notices[k]
	if known == nil {
		if k.service == "" && len(b.notices)-b.named >= maxNotices {
			return false
		}
		if b.notices == nil {
			b.notices, b.services = map[key]*Notice{}, map[problem]int{}
		}
		known = &Notice{Component: n.Component, Service: strings.Clone(k.service), Subject: n.Subject, Reason: n.Reason}
		k.service = known.Service
		first = b.services[p] == 0 && b.notices[key{problem: p}] == nil
		b.notices[k] = known
		if k.service != "" {
			b.services[p]++
			b.named++
		}
	}
	b.change()
	known.Count += n.Count
	known.Last = n.Last
	known.Detail = strings.ToValidUTF8(n.Detail[:min(len(n.Detail), maxDetail)], "")
	return first
}

// Offer adds an endpoint, and returns the function that removes it.
func (b *Board) Offer(e Endpoint) (withdraw func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.endpoints == nil {
		b.endpoints = map[*Endpoint]struct{}{}
	}
	b.endpoints[&e] = struct{}{}
	b.change()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.endpoints, &e)
		b.change()
	}
}

// Hold adds to the number of messages of profiles that a component holds back until their spans
// have arrived, for at most wait.
func (b *Board) Hold(component string, messages int64, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.held[component]
	if h == nil {
		if b.held == nil {
			b.held = map[string]*held{}
		}
		h = &held{}
		b.held[component] = h
	}
	h.messages, h.wait = h.messages+messages, wait
	b.change()
}

// Held returns the number of messages that are held back, and how long that may take.
func (b *Board) Held() (messages int64, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.held {
		if messages += h.messages; h.messages > 0 {
			wait = max(wait, h.wait)
		}
	}
	return messages, wait
}

func (b *Board) change() {
	b.version++
	b.changed.Notify()
}

// Changed returns a channel that is closed at the next change.
func (b *Board) Changed() <-chan struct{} { return b.changed.Next() }

// Version returns a number that changes with the board.
func (b *Board) Version() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// Read returns all notices, the latest first, and all endpoints. The version changes with them.
func (b *Board) Read() (list []Notice, endpoints []Endpoint, version int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notices {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(x, y Notice) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.Component, y.Component), cmp.Compare(x.Service, y.Service), cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Reason, y.Reason))
	})
	for e := range b.endpoints {
		endpoints = append(endpoints, *e)
	}
	slices.SortFunc(endpoints, func(x, y Endpoint) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.URL, y.URL)) })
	return list, endpoints, b.version
}
