// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// walker scrubs one message.
type walker struct {
	*Scrubber
	signal string // type of the elements, for selectors
	counts Counts
	paths  []path // of the current value; nil without selectors

	element pcommon.Map // attributes of the current span or log record; zero elsewhere
}

// walk returns a walker for a message, or nil for a nil Scrubber.
func (s *Scrubber) walk(signal string) *walker {
	if s == nil {
		return nil
	}
	return &walker{Scrubber: s, signal: signal}
}

func (w *walker) count(rule string) {
	if w.counts == nil {
		w.counts = Counts{}
	}
	w.counts[rule]++
}

// Signals, as the types of their elements in selectors.
const (
	signalSpan   = "span"
	signalLog    = "log"
	signalMetric = "trace_metric"
	signalEvent  = "event"
)

// Names in metrics of rules that Relay does not have.
const (
	ruleAssignment = "assignment" // a value next to a sensitive name in a text that is not replaced as a whole
	ruleCookie     = "cookie"
	ruleSQL        = "sql_literal"
	ruleDepth      = "depth"
	ruleSize       = "size"
)

const (
	// maxDepth is the maximum depth of nested values. Most protobuf decoders reject more than 100
	// levels, so no valid sender exceeds it. Deeper values are replaced unchecked.
	maxDepth = 100

	// maxText is the maximum size of a text that is checked. Sentry truncates texts to a few kB;
	// the largest that SDKs send are thread dumps of 1 MB. Longer texts are replaced unchecked.
	maxText = 4 << 20
)

// Places of data that is not in attributes.
var (
	spanName    = &place{policy: policyText, path: "$span.description"}
	spanMessage = &place{policy: policyText, path: "$span.status_message"}
	logBody     = place{policy: policyMessage, path: "$logentry.formatted"}
)

// attributes scrubs the attributes of a resource or a scope.
func (w *walker) attributes(attributes pcommon.Map) { w.eachAttribute(attributes, &w.places) }

// elementAttributes scrubs the attributes of a span, a log record or a data point.
func (w *walker) elementAttributes(attributes pcommon.Map) {
	w.eachAttribute(attributes, w.ofElements[w.signal])
}

func (w *walker) eachAttribute(attributes pcommon.Map, places *placeCache) {
	remove := false
	for key, value := range attributes.All() {
		p := places.of(key)
		if p.policy == policyNever && len(w.advanced) == 0 {
			continue
		}
		if w.root(value, key, p) == removed {
			value.SetStr(gone)
			remove = true
		}
	}
	if remove {
		removeMarked(attributes)
	}
}

// root scrubs the value of an attribute.
func (w *walker) root(v pcommon.Value, key string, p *place) outcome {
	if len(w.advanced)+len(w.safe) > 0 {
		w.paths = w.rootPaths(key, p)
	}
	return w.value(v, key, p.policy, p, 0)
}

// rootPaths returns the paths of an attribute: its path in Sentry's events, and its paths in
// attributes and tags.
func (w *walker) rootPaths(key string, p *place) (all []path) {
	if p.path != "" {
		all = append(all, pathOf(p.path))
	}
	for _, parent := range []string{"data", "attributes", "tags"} {
		at := path{elements: []element{named("", w.signal, "event"), named(parent, "object"), named(key)}}
		all = append(all, at)
	}
	all = append(all, all[len(all)-2].enter(named("value")))
	for i := range all {
		all[i].explicit = p.policy == policyNever || p.policy == policyLocation
	}
	return all
}

// field scrubs a field that is not an attribute.
func (w *walker) field(text string, p *place, set func(string)) {
	if text == "" {
		return
	}
	if len(w.advanced) == 0 {
		if clean := w.plain(text, w.rulesOf(p.policy), ""); clean != text {
			set(clean)
		}
		return
	}
	v := pcommon.NewValueStr(text)
	if w.root(v, "", p); v.Str() != text {
		set(v.AsString())
	}
}

// gone marks a value that is to be removed from its map, because a loop over a map must not change
// it.
const gone = "\x00removed\x00"

func removeMarked(m pcommon.Map) {
	m.RemoveIf(func(_ string, v pcommon.Value) bool { return v.Type() == pcommon.ValueTypeStr && v.Str() == gone })
}

// value scrubs a value under a key. p is the place of the attribute; nested values have the same
// place.
func (w *walker) value(v pcommon.Value, key string, as policy, p *place, depth int) outcome {
	if depth > maxDepth {
		v.SetStr(Filtered)
		w.count(ruleDepth)
		return changed
	}
	for i := range w.paths {
		w.paths[i].elements = withKind(w.paths[i].elements, kindOf(v))
	}
	advanced := w.applyAdvanced(v, key)
	if advanced == removed {
		return removed
	}
	return max(advanced, w.applyDefaults(v, key, as, p, depth))
}

// applyDefaults applies the default rules.
func (w *walker) applyDefaults(v pcommon.Value, key string, as policy, p *place, depth int) outcome {
	switch {
	case as == policyNever:
		return unchanged
	case as == policyIP && w.removesIP:
		w.count("@ip:remove")
		return removed
	}
	if w.isSafe() {
		return w.children(v, as, depth)
	}
	if as == policyMeta {
		switch {
		case key == "val" && w.full.password: // the value of any field
			w.count("@password:filter")
			v.SetStr(Filtered)
			return changed
		case describesField(v):
			return w.children(v, as, depth)
		}
	}
	if o := w.sensitive(v, key, p); o != unchanged {
		return o
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return w.str(v, key, as)
	case pcommon.ValueTypeBytes:
		return w.bytes(v, key, as)
	case pcommon.ValueTypeSlice, pcommon.ValueTypeMap:
		result := unchanged
		if w.filtersCookies && isCookies(key) {
			result = w.sessionCookies(v)
		}
		if p.header && v.Type() == pcommon.ValueTypeSlice { // by convention, values of headers are lists
			return max(result, w.list(v.Slice(), as, as, depth))
		}
		return max(result, w.children(v, as, depth))
	default:
		return unchanged
	}
}

// describesField reports whether a value of _meta describes how an SDK changed the field of this
// name.
func describesField(v pcommon.Value) bool {
	if v.Type() != pcommon.ValueTypeMap {
		return false
	}
	_, ok := v.Map().Get("")
	return ok
}

// withKind sets the type of the last element of a path.
func withKind(elements []element, kind string) []element {
	last := &elements[len(elements)-1]
	types := last.types[:len(last.types):len(last.types)]
	elements = append(elements[:len(elements)-1:len(elements)-1], element{last.key, last.index, append(types, kind)})
	return elements
}

// isSafe reports whether the current value is a safe field.
func (w *walker) isSafe() bool {
	for _, s := range w.safe {
		if s.matches(w.paths) {
			return true
		}
	}
	return false
}

// sensitive replaces a whole value because of its key.
func (w *walker) sensitive(v pcommon.Value, key string, p *place) outcome {
	if isHarmless(v) || p.header && v.Type() == pcommon.ValueTypeSlice && v.Slice().Len() == 1 && isHarmless(v.Slice().At(0)) {
		return unchanged
	}
	rule, does := w.filters(key, p)
	if !does {
		return unchanged
	}
	w.count(rule)
	if p.header && v.Type() == pcommon.ValueTypeSlice { // by convention, values of headers are lists
		v.SetEmptySlice().AppendEmpty().SetStr(Filtered)
		return changed
	}
	v.SetStr(Filtered)
	return changed
}

// filters returns the rule that replaces the value under a key as a whole, and whether there is
// one.
func (w *walker) filters(key string, p *place) (rule string, does bool) {
	switch {
	case key == "":
		return "", false
	case w.filtersCookies && p.cookie != noCookie:
		return ruleCookie, true
	case w.full.password && p.sensitive:
		return "@password:filter", true
	case w.full.pair && w.full.pairs(key):
		return "strip-fields", true
	}
	return "", false
}

// pairs reports whether a rule for sensitive fields matches a key.
func (s *ruleset) pairs(key string) bool {
	for _, r := range s.rules {
		if r.pair != nil && r.pair.MatchString(key) {
			return true
		}
	}
	return false
}

// isHarmless reports whether a value contains no data: booleans, null, and the texts of such
// values.
func isHarmless(v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeBool, pcommon.ValueTypeEmpty:
		return true
	case pcommon.ValueTypeStr:
		return isHarmlessText(v.Str())
	default:
		return false
	}
}

func isHarmlessText(text string) bool {
	switch text {
	case "", "true", "false", "null", "undefined", Filtered:
		return true
	}
	return false
}

// applyAdvanced applies the advanced rules whose selectors match.
func (w *walker) applyAdvanced(v pcommon.Value, key string) outcome {
	if len(w.advanced) == 0 || isHarmless(v) {
		return unchanged
	}
	isText, found, result := v.Type() == pcommon.ValueTypeStr, triggers(0), unchanged
	var t redacted
	if isText {
		t.text = strings.ReplaceAll(v.Str(), nul, "")
		found = scan(t.text)
	}
	for _, a := range w.advanced {
		if !a.selector.matches(w.paths) {
			continue
		}
		for _, r := range a.rules {
			o := r.whole(key)
			if isText {
				o = r.text(&t, key, found)
			}
			if o != unchanged {
				w.count(r.origin)
				result = max(result, o)
			}
			if o == removed {
				return o
			}
			if o == changed && !isText {
				v.SetStr(r.by.Text)
				return o
			}
		}
	}
	if result == changed {
		v.SetStr(t.String())
	}
	return result
}

func (w *walker) rulesOf(as policy) *ruleset {
	switch as {
	case policyForm:
		return &w.form
	case policyURL:
		return &w.url
	case policyQuery:
		return &w.query
	case policyText, policyFrames, policyTemplate, policyCrumbs:
		return &w.text
	case policyMessage:
		return &w.message
	case policyLocation:
		return &w.location
	case policyCode:
		return &w.code
	default:
		return &w.full
	}
}

// stackKeys have the attributes that are stack traces.
var stackKeys = map[string]bool{semconv.ExceptionStacktrace: true, semconv.CodeStacktrace: true}

// beginsWithType reports whether the body of a log record begins with the type of its exception.
func (w *walker) beginsWithType(body string) bool {
	if w.element == (pcommon.Map{}) {
		return false
	}
	name, known := w.element.Get(semconv.ExceptionType)
	return known && name.Type() == pcommon.ValueTypeStr && strings.HasPrefix(body, name.Str()+": ")
}

func (w *walker) str(v pcommon.Value, key string, as policy) outcome {
	text := v.Str()
	if w.filtersCookies && cookieTexts[key] && !isHarmlessText(text) {
		w.count(ruleCookie)
		v.SetStr(Filtered)
		return changed
	}
	clean := w.plain(text, w.rulesOf(as), key)
	if w.sqlLiterals && isQuery(key) {
		clean = w.withoutLiterals(clean)
	}
	if clean == text {
		return unchanged
	}
	v.SetStr(clean)
	return changed
}

// bytes scrubs a byte slice that contains text.
func (w *walker) bytes(v pcommon.Value, key string, as policy) outcome {
	raw := v.Bytes().AsRaw()
	if !utf8.Valid(raw) {
		return unchanged
	}
	clean := w.plain(string(raw), w.rulesOf(as), key)
	if clean == string(raw) {
		return unchanged
	}
	v.Bytes().FromRaw([]byte(clean))
	return changed
}

// plain scrubs a text under a key that is not sensitive.
func (w *walker) plain(text string, set *ruleset, key string) string {
	if isHarmlessText(text) || !set.active() {
		return text
	}
	if len(text) > maxText {
		w.count(ruleSize)
		return Filtered
	}
	t := redacted{text: strings.ReplaceAll(text, nul, "")} // Relay removes NULs, too, if anything matches
	if set == &w.location && !w.userPaths && !isLocated(t.text) {
		return text
	}
	found := scan(t.text)
	encoded := set.parameters && strings.IndexByte(t.text, '=') >= 0 && (found&(hasWord|hasCookie|hasFold) != 0 || strings.IndexByte(t.text, '%') >= 0)
	if found == 0 && !encoded && !set.pair && !w.userPaths && len(text) > len("two-factor") && !isCookies(key) {
		return text
	}
	if set.suits != nil && w.full.password && sensitiveText(t.text, found) && !set.suits(text) {
		w.count("@password:filter")
		return Filtered
	}
	for _, r := range set.rules {
		if r.pair != nil {
			key := "" // the key was already checked
			if r.text(&t, key, found) != unchanged {
				w.count(r.origin)
			}
			continue
		}
		if r.text(&t, "", found) != unchanged {
			w.count(r.origin)
		}
	}
	if encoded && t.parameters() {
		w.count(ruleAssignment)
	}
	var sql *statement
	if (set.literals || set.assigns && set != &w.location && strings.ContainsAny(t.text, "={")) && found&(hasWord|hasFold) != 0 {
		sql = statementIn(w.element, key, t.text)
	}
	syntax := set.syntax
	if stackKeys[key] || key == "body" && w.beginsWithType(t.text) {
		syntax = stackSyntax
	}
	if (set.assigns && found&(hasWord|hasCookie) != 0 || set.cookies && found&hasCookie != 0) && t.assignments(syntax, sql) {
		w.count(ruleAssignment)
	}
	if set.literals && sql != nil && sensitiveText(t.text, found) && t.replaceSpans(sql.literalSpans(t.text)) {
		w.count(ruleAssignment)
	}
	if set.cookies && isCookies(key) && t.replace(&cookiesPattern, replaceBy(Filtered)) {
		w.count(ruleCookie)
	}
	if len(t.marks) == 0 {
		return text
	}
	return t.String()
}

// isLocated reports whether a code name is a URL that may have a password or parameters. No other
// part of a code name is data.
func isLocated(text string) bool {
	return strings.Contains(text, "//") && strings.ContainsAny(text, "@?")
}
