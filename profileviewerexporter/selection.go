// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// maxProfiles is the maximum number of profiles in a selection: enough for a span of one hour in
// chunks of one minute.
const maxProfiles = 60

// selection is the subject of a request: samples of one or more profiles. The query selects them
// with
//
//	profile=17       a profile; may be repeated
//	trace=…&span=…   the samples of a span; without a profile, of all profiles
//	service=…        the profiles of a service, without profile and span
//	window=…/…       with service: the samples between two times (RFC 3339 or Unix nanoseconds)
//	release=…        with service: of a release
//	without=…        with service: of other releases than this one
//	since=…          with service: of releases whose first profile is later than that of this one
//	thread=…         the samples of the thread with this ID
//	from=…&to=…      the samples in a time range, in nanoseconds after the origin
//	operation=…      with service: the samples of spans with this display name, and of those below
//	kind=…           with operation: of this kind
//	active=1         without samples of threads that wait outside of spans
//	linked=1         the samples with a span
//	collapse=1       without library functions that library functions call
//	raw=1            with the names that the profiler reported, before symbolication
//
// The origin is the earliest start of the profiles.
type selection struct {
	profiles  []*store.Profile // ascending
	origin    uint64
	link      *timeline.Link
	thread    *string
	within    timeline.Range
	active    bool
	linked    bool   // only samples with a span
	service   string // if the selection is all samples of a service, perhaps during a range
	operation *operationLinks
	collapse  bool // calls inside libraries
	raw       bool
	decoded   *decoded
}

func (v *viewer) selectionOf(query url.Values) (*selection, error) {
	s := &selection{decoded: &v.decoded}
	var err error
	if query.Has("span") {
		if s.link, err = parseLink(query); err != nil {
			return nil, err
		}
	}
	switch {
	case query.Has("profile"):
		s.profiles, err = v.profilesOf(query["profile"])
	case s.link == nil && query.Has("service"):
		if s.within, err = parseInterval(query); err == nil {
			s.operation, s.service = v.operationOf(query), wholeService(query)
			s.profiles, err = v.profilesDuring(query, s.within, s.operation)
		}
	default:
		s.profiles, err = v.profilesWith(s.link)
	}
	if err != nil {
		return nil, err
	}
	s.origin = slices.MinFunc(s.profiles, func(a, b *store.Profile) int { return cmp.Compare(a.Start, b.Start) }).Start
	if query.Has("thread") {
		thread := query.Get("thread")
		s.thread = &thread
	}
	s.active, s.linked = query.Get("active") == "1", query.Get("linked") == "1"
	s.collapse, s.raw = query.Get("collapse") == "1", query.Get("raw") == "1"
	return s, parseRange(query, s.origin, &s.within)
}

// wholeService returns the service if a query selects all of its samples.
func wholeService(query url.Values) string {
	for _, key := range []string{"release", "without", "since", "operation", "thread", "from", "to", "linked"} {
		if query.Has(key) {
			return ""
		}
	}
	return query.Get("service")
}

func (v *viewer) profilesOf(ids []string) (list []*store.Profile, err error) {
	if len(ids) > maxProfiles {
		return nil, badRequest("profile: has %d values, the maximum is %d", len(ids), maxProfiles)
	}
	for _, text := range ids {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, badRequest("profile: %q is not a number", answer.Display(text))
		}
		p, ok := v.store.Profile(id)
		if !ok {
			return nil, gone("profile " + text)
		}
		if len(list) > 0 && p.Measure != list[0].Measure {
			return nil, badRequest("profile: cannot combine %s, which measures %s, with %s", text, p.Measure.Type, list[0].Measure.Type)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *store.Profile) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Compact(list), nil
}

// profilesWith returns the profiles with samples of a span. If there are too many, it returns the
// latest. Because different measures cannot be added up, it returns only profiles with the measure
// of the first.
func (v *viewer) profilesWith(link *timeline.Link) (list []*store.Profile, err error) {
	if link == nil {
		return nil, badRequest("profile: is missing; set profile, or trace and span, or service")
	}
	for _, p := range v.store.LinkedProfiles(link.Trace) {
		if _, has := p.Spans[*link]; has && (len(list) == 0 || list[0].Measure == p.Measure) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, failure{status: http.StatusNotFound, text: "no stored profile has samples of this span"}
	}
	return list[max(0, len(list)-maxProfiles):], nil
}

func parseLink(query url.Values) (*timeline.Link, error) {
	trace, err := parseTrace(query.Get("trace"))
	if err != nil {
		return nil, err
	}
	span, err := hex.DecodeString(query.Get("span"))
	if err != nil || len(span) != 8 {
		return nil, badRequest("span: %q is not an ID of 16 hex digits", answer.Display(query.Get("span")))
	}
	return &timeline.Link{Trace: trace, Span: pcommon.SpanID(span)}, nil
}

func parseTrace(text string) (pcommon.TraceID, error) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) != 16 {
		return pcommon.TraceID{}, badRequest("trace: %q is not an ID of 32 hex digits", answer.Display(text))
	}
	return pcommon.TraceID(id), nil
}

// profilesDuring returns the profiles of a service, or of a release of it, in a range. If there are
// too many, it returns the latest. It returns only profiles with the measure of the latest, and
// only those with samples of the operation, if there is one.
func (v *viewer) profilesDuring(query url.Values, during timeline.Range, of *operationLinks) (list []*store.Profile, err error) {
	service := query.Get("service")
	all, _, _ := v.store.All()
	wanted := releases(query, all)
	for _, p := range all { // the newest first
		if p.Service != service || during.To > 0 && p.Start >= during.To || p.End < during.From {
			continue
		}
		if !wanted(p.Release) || !of.has(p) {
			continue
		}
		if list = append(list, p); p.Measure != list[0].Measure {
			list = list[:len(list)-1]
		}
		if len(list) == maxProfiles {
			break
		}
	}
	if len(list) == 0 {
		what := "is in the window"
		switch {
		case of != nil:
			what = "has samples of this operation in the window"
		case query.Has("since"):
			what += " and of a release after " + answer.Display(query.Get("since"))
		case query.Has("without"):
			what += " and of another release than " + answer.Display(query.Get("without"))
		}
		return nil, failure{status: http.StatusNotFound, text: "no stored profile of this service " + what}
	}
	slices.SortFunc(list, func(a, b *store.Profile) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// releases returns the test for the releases that a query selects.
func releases(query url.Values, all []*store.Profile) func(release string) bool {
	first := map[string]uint64{} // start of the first profile of each release of the service
	if query.Has("since") {
		for _, p := range all {
			if at, known := first[p.Release]; p.Service == query.Get("service") && (!known || p.Start < at) {
				first[p.Release] = p.Start
			}
		}
	}
	return func(release string) bool {
		if query.Has("release") && release != query.Get("release") || query.Has("without") && release == query.Get("without") {
			return false
		}
		since, known := first[query.Get("since")]
		return !query.Has("since") || known && first[release] > since
	}
}

func parseInterval(query url.Values) (r timeline.Range, err error) {
	if !query.Has("window") {
		return r, nil
	}
	from, to, _ := strings.Cut(query.Get("window"), "/")
	if r.From, err = parseTime(from); err == nil {
		r.To, err = parseTime(to)
	}
	if err != nil || r.To <= r.From {
		return r, badRequest("window: %q is not a start and an end, separated by /", answer.Display(query.Get("window")))
	}
	return r, nil
}

// parseTime parses a time in RFC 3339 or in Unix nanoseconds.
func parseTime(text string) (uint64, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return uint64(max(0, t.UnixNano())), nil
	}
	return strconv.ParseUint(text, 10, 63)
}

func parseRange(query url.Values, origin uint64, r *timeline.Range) error {
	for key, target := range map[string]*uint64{"from": &r.From, "to": &r.To} {
		if !query.Has(key) {
			continue
		}
		offset, err := strconv.ParseUint(query.Get(key), 10, 63)
		if err != nil {
			return badRequest("%s: %q is not a number of nanoseconds", key, answer.Display(query.Get(key)))
		}
		*target = origin + offset
	}
	return nil
}

// tag distinguishes responses to the same request for the samples of a span: new profiles may
// contain more of them. Other selections have no tag, because their responses contain names of
// spans.
func (s *selection) tag(created time.Time) string {
	if s.link == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprint(&b, created.UnixNano())
	for _, p := range s.profiles {
		fmt.Fprintf(&b, "-%d", p.ID)
	}
	return strconv.Quote(b.String())
}

// names identifies the profiles, and the names of their functions.
func (s *selection) names() string {
	var b strings.Builder
	for _, p := range s.profiles {
		fmt.Fprintf(&b, "%d ", p.ID)
	}
	fmt.Fprint(&b, s.raw)
	return b.String()
}

// key identifies the selected samples. Stored profiles do not change.
func (s *selection) key() string {
	var b strings.Builder
	b.WriteString(s.names())
	if s.link != nil {
		fmt.Fprintf(&b, " span %x %x", s.link.Trace[:], s.link.Span[:])
	}
	if s.thread != nil {
		fmt.Fprintf(&b, " thread %q", *s.thread)
	}
	if o := s.operation; o != nil {
		fmt.Fprintf(&b, " operation %q %q %d", o.name, o.kind, o.version)
	}
	fmt.Fprint(&b, " ", s.within.From, s.within.To, s.collapse, s.active, s.linked)
	return b.String()
}

// filter returns the filter for the selected samples of a profile.
func (s *selection) filter(p *timeline.Profile) timeline.Filter {
	f := timeline.Filter{Link: s.link, Range: s.within, Active: s.active}
	switch {
	case s.operation != nil:
		f.Spans = func(link timeline.Link) bool { return s.operation.links[link] }
	case s.linked:
		f.Spans = func(timeline.Link) bool { return true }
	}
	if s.thread != nil {
		thread, ok := p.FindThread(*s.thread)
		if !ok {
			thread = -1 // no sample
		}
		f.Thread = &thread
	}
	return f
}

// each visits the selected samples of each profile; it is a [flame.Source].
func (s *selection) each(visit func(flame.Selection) error) error {
	for _, summary := range s.profiles {
		if err := s.of(summary)(visit); err != nil {
			return err
		}
	}
	return nil
}

// of returns the [flame.Source] of one of the profiles.
func (s *selection) of(summary *store.Profile) flame.Source {
	return func(visit func(flame.Selection) error) error {
		p, err := s.read(summary)
		if err != nil {
			return err
		}
		return visit(flame.Selection{Profile: p, Filter: s.filter(p), Collapse: s.collapse})
	}
}
