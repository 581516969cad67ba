// SPDX-License-Identifier: Apache-2.0

package exceptions

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

const (
	// maxOccurrences is the maximum number of errors in the list of a group: the latest are listed.
	maxOccurrences = 200
	// maxBreadcrumbs is the maximum number of breadcrumbs: the latest are listed. SDKs send 100.
	maxBreadcrumbs = 100
	// maxFramesShown is the maximum number of frames in all stacks of an error.
	maxFramesShown = 1000
	// maxVars is the maximum number of local variables of a frame.
	maxVars = 50
	// maxContext is the maximum number of source lines before and after the line of a frame. SDKs
	// send 5.
	maxContext = 20
	// maxReleases is the maximum number of releases of a group: the latest are listed.
	maxReleases = 20
)

// DetailAnswer is a group and one of its errors.
type DetailAnswer struct {
	answer.Omissions
	Group       GroupAnswer           `json:"group"`
	Releases    []ReleaseErrorsAnswer `json:"releases"`    // latest first
	Occurrences []OccurrenceAnswer    `json:"occurrences"` // latest first
	Error       ErrorAnswer           `json:"error"`
}

// ReleaseErrorsAnswer summarizes the errors of a group in a release, or in a version of a service.
type ReleaseErrorsAnswer struct {
	Name  string `json:"name"` // empty if unknown
	Count int    `json:"count"`
	First string `json:"first"`
	Last  string `json:"last"`
}

// OccurrenceAnswer is an error in the list of its group.
type OccurrenceAnswer struct {
	Key     string `json:"key"` // ID of the error in requests
	Time    string `json:"time"`
	Service string `json:"service"`
	Trace   string `json:"trace,omitempty"`
	Span    string `json:"span,omitempty"`
}

// ErrorAnswer is an error with its stacks.
type ErrorAnswer struct {
	OccurrenceAnswer
	Release     string             `json:"release,omitempty"`
	Environment string             `json:"environment,omitempty"`
	SDK         string             `json:"sdk,omitempty"` // name and version
	Thread      string             `json:"thread,omitempty"`
	Body        string             `json:"body,omitempty"`
	Exceptions  []ExceptionAnswer  `json:"exceptions"` // thrown exception first, then its causes
	Breadcrumbs []BreadcrumbAnswer `json:"breadcrumbs"`
	Attributes  []answer.Attribute `json:"attributes"` // attributes that are not in other fields
	Samples     *SamplesAnswer     `json:"samples,omitempty"`
	Profile     string             `json:"profile,omitempty"` // latest profile with samples of the trace
}

// ExceptionAnswer is an exception of a chain.
type ExceptionAnswer struct {
	Type    string        `json:"type"`
	Message string        `json:"message"`
	Handled *bool         `json:"handled,omitempty"`
	Tree    bool          `json:"tree,omitempty"` // the frames are a call tree, depth first
	Frames  []FrameAnswer `json:"frames"`         // innermost frame first; in a tree, callers first
	Missing int           `json:"missing"`        // number of frames that are not listed
}

// FrameAnswer is a call in a stack.
type FrameAnswer struct {
	Function string             `json:"function"`
	Module   string             `json:"module,omitempty"`
	File     string             `json:"file,omitempty"`
	Line     int64              `json:"line,omitempty"`
	Column   int64              `json:"column,omitempty"`
	InApp    *bool              `json:"in_app,omitempty"`
	Guess    bool               `json:"guess,omitempty"`
	Before   []string           `json:"before,omitempty"`
	Source   string             `json:"source,omitempty"`
	After    []string           `json:"after,omitempty"`
	Vars     []answer.Attribute `json:"vars,omitempty"`
	Raw      *RawFrameAnswer    `json:"raw,omitempty"`     // original frame, if a symbol file changed its names
	Depth    int                `json:"depth,omitempty"`   // in a tree, the number of callers
	Samples  int64              `json:"samples,omitempty"` // in a tree, including its callees
}

// RawFrameAnswer is a frame as the SDK reported it, before symbolication.
type RawFrameAnswer struct {
	Function string `json:"function"`
	Module   string `json:"module,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Column   int64  `json:"column,omitempty"`
}

// BreadcrumbAnswer is an activity before the error.
type BreadcrumbAnswer struct {
	Time     string             `json:"time"`
	Type     string             `json:"type,omitempty"`
	Category string             `json:"category,omitempty"`
	Level    string             `json:"level,omitempty"`
	Message  string             `json:"message,omitempty"`
	Data     []answer.Attribute `json:"data,omitempty"`
}

// SamplesAnswer names the samples around an error: those of a profile, or of a thread of it, in a
// range of nanoseconds after its start.
type SamplesAnswer struct {
	Profile string `json:"profile"`
	Thread  string `json:"thread,omitempty"`
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
}

// Detail collects the errors of one group.
type Detail struct {
	groups      Groups
	occurrences []occurrence
	releases    map[string]*release
	wanted      string // key
	chosen      *Error
}

// occurrence holds no memory of the message.
type occurrence struct {
	time    uint64
	key     string
	service string
	trace   pcommon.TraceID
	span    pcommon.SpanID
}

// release summarizes the errors of a release.
type release struct {
	count       int
	first, last uint64
}

func (r *release) add(at uint64) {
	if r.count++; r.count == 1 || at < r.first {
		r.first = at
	}
	r.last = max(r.last, at)
}

// NewDetail returns an empty group. It describes the error with the key, or the latest if there is
// none.
func NewDetail(key string) *Detail {
	return &Detail{groups: Groups{}, releases: map[string]*release{}, wanted: key}
}

// Add adds an error of the group.
func (d *Detail) Add(e *Error) {
	d.groups.Add(e)
	if d.releases[e.Release] == nil {
		d.releases[e.Release] = &release{}
	}
	d.releases[e.Release].add(e.Time)
	key := e.key()
	d.occurrences = append(d.occurrences, occurrence{e.Time, key, e.Service, e.Trace, e.Span})
	isWanted := d.wanted != "" && key == d.wanted
	if d.chosen == nil || isWanted || (e.Time > d.chosen.Time && d.chosen.key() != d.wanted) {
		d.chosen = e
	}
}

// Chosen returns the error that the response describes, or nil if the group is empty.
func (d *Detail) Chosen() *Error { return d.chosen }

// Answer returns the response.
func (d *Detail) Answer() DetailAnswer {
	out := DetailAnswer{Occurrences: []OccurrenceAnswer{}, Releases: []ReleaseErrorsAnswer{}}
	for _, group := range d.groups {
		texts := answer.PerEntry(answer.MaxTexts/8, 1, &out.Omissions)
		out.Group = group.describe(&texts, slices.Min(group.times), group.last)
	}
	names := slices.SortedFunc(maps.Keys(d.releases), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.releases[b].last, d.releases[a].last), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), maxReleases)] {
		texts, r := answer.PerEntry(answer.MaxTexts/32, maxReleases, &out.Omissions), d.releases[name]
		out.Releases = append(out.Releases, ReleaseErrorsAnswer{texts.Text(name), r.count, answer.Nanos(r.first), answer.Nanos(r.last)})
	}
	slices.SortStableFunc(d.occurrences, func(a, b occurrence) int { return cmp.Compare(b.time, a.time) })
	listed := d.occurrences[:min(len(d.occurrences), maxOccurrences)]
	for _, o := range listed {
		texts := answer.PerEntry(answer.MaxTexts/8, len(listed), &out.Omissions)
		out.Occurrences = append(out.Occurrences, o.describe(&texts))
	}
	out.Error = d.chosen.describe(&out.Omissions)
	return out
}

func (o *occurrence) describe(texts *answer.Budget) OccurrenceAnswer {
	out := OccurrenceAnswer{Key: o.key, Time: answer.Nanos(o.time), Service: texts.Text(o.service)}
	if !o.trace.IsEmpty() {
		out.Trace, out.Span = hex.EncodeToString(o.trace[:]), hex.EncodeToString(o.span[:])
	}
	return out
}

// describe uses half of the budget for the stacks, an eighth each for breadcrumbs and attributes.
func (e *Error) describe(omissions *answer.Omissions) ErrorAnswer {
	texts := answer.PerEntry(answer.MaxTexts/16, 1, omissions)
	self := occurrence{e.Time, e.key(), e.Service, e.Trace, e.Span}
	out := ErrorAnswer{
		OccurrenceAnswer: self.describe(&texts), Thread: texts.Text(e.Thread()), Body: texts.Text(e.body),
		Release: texts.Text(e.Release), Environment: texts.Text(e.Environment), SDK: texts.Text(e.SDK),
		Exceptions: []ExceptionAnswer{}, Breadcrumbs: []BreadcrumbAnswer{},
	}
	frames := 0
	for i := range e.chain {
		e.chain[i].limit(maxFramesShown - frames)
		frames += len(e.chain[i].frames)
	}
	for i := range e.chain {
		out.Exceptions = append(out.Exceptions, e.chain[i].describe(frames, &texts, omissions))
	}
	out.Breadcrumbs = append(out.Breadcrumbs, breadcrumbs(e.attributes, omissions)...)
	texts = answer.PerEntry(answer.MaxTexts/8, 1, omissions)
	out.Attributes = texts.MapWithout(e.attributes, shown)
	return out
}

// shown are the attributes that have their own part of the response.
var shown = []string{
	semconv.SentryExceptions, semconv.SentryBreadcrumbs, semconv.ExceptionStacktrace, semconv.ExceptionType, semconv.ExceptionMessage,
	semconv.SentryStacktrace, semconv.CodeStacktrace,
}

// limit keeps the innermost frames, or the first of a tree.
func (e *thrown) limit(frames int) {
	if excess := len(e.frames) - frames; excess > 0 {
		e.frames, e.omitted = e.frames[:frames], e.omitted+excess
	}
}

func (e *thrown) describe(frames int, texts *answer.Budget, omissions *answer.Omissions) ExceptionAnswer {
	out := ExceptionAnswer{Type: texts.Text(e.kind), Message: texts.Text(e.message), Handled: e.handled, Tree: e.tree, Frames: []FrameAnswer{}, Missing: e.omitted}
	for i := range e.frames {
		texts := answer.PerEntry(answer.MaxTexts/2, frames, omissions)
		out.Frames = append(out.Frames, e.frames[i].describe(&texts))
	}
	return out
}

func (f *frame) describe(texts *answer.Budget) FrameAnswer {
	out := FrameAnswer{
		Function: texts.Text(f.function), Module: texts.Text(f.module), File: texts.Text(f.file), Line: f.line, Column: f.column,
		InApp: f.inApp, Guess: f.guess && f.inApp != nil, Source: texts.Text(f.source),
		Depth: f.depth, Samples: f.samples,
	}
	if raw := f.raw; raw != nil {
		out.Raw = &RawFrameAnswer{Function: texts.Text(raw.function), Module: texts.Text(raw.module), File: texts.Text(raw.file), Line: raw.line, Column: raw.column}
	}
	out.Before = texts.Lines(f.before[max(0, len(f.before)-maxContext):])
	out.After = texts.Lines(f.after[:min(len(f.after), maxContext)])
	if f.hasVars {
		out.Vars = texts.Map(f.vars)
		if len(out.Vars) > maxVars {
			out.Vars = append(out.Vars[:maxVars:maxVars], answer.Attribute{Key: "…", Value: answer.More(f.vars.Len() - maxVars)})
		}
	}
	return out
}

// breadcrumbs returns the latest breadcrumbs of a record, the latest last.
func breadcrumbs(attributes pcommon.Map, omissions *answer.Omissions) (list []BreadcrumbAnswer) {
	value, ok := attributes.Get(semconv.SentryBreadcrumbs)
	if !ok || value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	crumbs := value.Slice()
	for i := max(0, crumbs.Len()-maxBreadcrumbs); i < crumbs.Len(); i++ {
		if crumbs.At(i).Type() != pcommon.ValueTypeMap {
			continue
		}
		m, texts := crumbs.At(i).Map(), answer.PerEntry(answer.MaxTexts/8, maxBreadcrumbs, omissions)
		crumb := BreadcrumbAnswer{
			Time: answer.Nanos(uint64(number(m, "time_unix_nano"))), Type: texts.Text(text(m, "type")), Category: texts.Text(text(m, "category")),
			Level: texts.Text(text(m, "level")), Message: texts.Text(text(m, "message")),
		}
		if data, ok := m.Get("data"); ok && data.Type() == pcommon.ValueTypeMap {
			crumb.Data = texts.Map(data.Map())
		}
		list = append(list, crumb)
	}
	return list
}
