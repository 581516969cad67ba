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

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/flame"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// maxProfiles of one selection: a span of an hour under continuous profiling, in chunks of a minute.
const maxProfiles = 60

// selection is what a request is about: samples of one or more profiles. In the query,
//
//	profile=17       a profile, any number of times
//	trace=…&span=…   samples of this span; without profiles: of all profiles that have some
//	thread=…         samples of the thread with this id
//	from=…&to=…      samples in this range, nanoseconds after the origin
//
// The origin is the earliest start of the profiles.
type selection struct {
	profiles []*profileSummary // ascending
	origin   uint64
	link     *timeline.Link
	thread   *string
	within   timeline.Range

	// The message that was decoded last, and the profile that was read last: most selections have one.
	message *message
	decoded pprofile.Profiles
	reader  *timeline.Reader
	read    *timeline.Profile
	summary *profileSummary
}

func (v *viewer) selectionOf(query url.Values) (*selection, error) {
	s := &selection{}
	var err error
	if query.Has("span") {
		if s.link, err = parseLink(query); err != nil {
			return nil, err
		}
	}
	if query.Has("profile") {
		s.profiles, err = v.profilesOf(query["profile"])
	} else {
		s.profiles, err = v.profilesWith(s.link)
	}
	if err != nil {
		return nil, err
	}
	s.origin = slices.MinFunc(s.profiles, func(a, b *profileSummary) int { return cmp.Compare(a.start, b.start) }).start
	if query.Has("thread") {
		thread := query.Get("thread")
		s.thread = &thread
	}
	s.within, err = parseRange(query, s.origin)
	return s, err
}

func (v *viewer) profilesOf(ids []string) (list []*profileSummary, err error) {
	if len(ids) > maxProfiles {
		return nil, badRequest("profile: is given %d times, at most %d", len(ids), maxProfiles)
	}
	for _, text := range ids {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, badRequest("profile: %q is no number", shorten(text))
		}
		p, ok := v.store.profile(id)
		if !ok {
			return nil, gone("profile " + text)
		}
		if len(list) > 0 && p.measure != list[0].measure {
			return nil, badRequest("profile: %s has %s, others %s", text, p.measure.Type, list[0].measure.Type)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *profileSummary) int { return cmp.Compare(a.id, b.id) })
	return slices.Compact(list), nil
}

// profilesWith gives the profiles with samples of a span, the latest if there are many. Where they are of several measures, they
// do not add up, and the first measure it is.
func (v *viewer) profilesWith(link *timeline.Link) (list []*profileSummary, err error) {
	if link == nil {
		return nil, badRequest("profile: is missing, and so is span")
	}
	for _, p := range v.store.linkedTo(link.Trace) {
		if _, has := p.spans[*link]; has && (len(list) == 0 || list[0].measure == p.measure) {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, failure{http.StatusNotFound, "no profile that is kept has samples of this span"}
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
		return nil, badRequest("span: %q is no id of 16 hex digits", shorten(query.Get("span")))
	}
	return &timeline.Link{Trace: trace, Span: pcommon.SpanID(span)}, nil
}

func parseTrace(text string) (pcommon.TraceID, error) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) != 16 {
		return pcommon.TraceID{}, badRequest("trace: %q is no id of 32 hex digits", shorten(text))
	}
	return pcommon.TraceID(id), nil
}

func parseRange(query url.Values, origin uint64) (r timeline.Range, err error) {
	for key, target := range map[string]*uint64{"from": &r.From, "to": &r.To} {
		if !query.Has(key) {
			continue
		}
		offset, err := strconv.ParseUint(query.Get(key), 10, 63)
		if err != nil {
			return r, badRequest("%s: %q is no number of nanoseconds", key, shorten(query.Get(key)))
		}
		*target = origin + offset
	}
	return r, nil
}

// filter is what to take of a profile.
func (s *selection) filter(p *timeline.Profile) timeline.Filter {
	f := timeline.Filter{Link: s.link, Range: s.within}
	if s.thread != nil {
		thread, ok := p.FindThread(*s.thread)
		if !ok {
			thread = -1 // nothing
		}
		f.Thread = &thread
	}
	return f
}

// each visits the selected samples of each profile; it is a [flame.Source]. One message is decoded at a time.
func (s *selection) each(visit func(flame.Selection) error) error {
	for _, summary := range s.profiles {
		if err := s.of(summary)(visit); err != nil {
			return err
		}
	}
	return nil
}

// of is the source of one of the profiles.
func (s *selection) of(summary *profileSummary) flame.Source {
	return func(visit func(flame.Selection) error) error {
		p, err := s.profile(summary)
		if err != nil {
			return err
		}
		return visit(flame.Selection{Profile: p, Filter: s.filter(p)})
	}
}

func (s *selection) profile(summary *profileSummary) (*timeline.Profile, error) {
	if s.summary == summary {
		return s.read, nil
	}
	if m := summary.message; s.message != m {
		s.message, s.decoded, s.reader, s.read, s.summary = nil, pprofile.Profiles{}, nil, nil, nil
		decoded, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(m.otlp)
		if err != nil {
			return nil, fmt.Errorf("cannot decode what was kept: %w", err)
		}
		s.message, s.decoded, s.reader = m, decoded, timeline.NewReader(decoded.Dictionary())
	}
	s.read, s.summary = s.reader.Read(profileAt(s.decoded, summary.position)), summary
	return s.read, nil
}

func profileAt(m pprofile.Profiles, at position) pprofile.Profile {
	return m.ResourceProfiles().At(at.resource).ScopeProfiles().At(at.scope).Profiles().At(at.profile)
}
