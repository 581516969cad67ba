// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// selector is an expression that matches paths, in Relay's language: `$string && !extra.foo`,
// `$http.headers.'X-Token'`, `**.card`. A value has several paths, see rootPaths. A path of a
// selector matches if it matches any of them.
type selector interface {
	matches(all []path) bool
}

type (
	anyOf []selector
	allOf []selector
	not   struct{ selector }
	steps []step // a path matches if its last elements do
)

// step is an element of a selector.
type step struct {
	kind  stepKind
	key   string
	index int
}

type stepKind uint8

const (
	stepKey stepKind = iota
	stepIndex
	stepType
	stepWildcard
	stepDeep
)

func (s anyOf) matches(all []path) bool {
	for _, each := range s {
		if each.matches(all) {
			return true
		}
	}
	return false
}

func (s allOf) matches(all []path) bool {
	for _, each := range s {
		if !each.matches(all) {
			return false
		}
	}
	return true
}

func (s not) matches(all []path) bool { return !s.selector.matches(all) }

func (s steps) matches(all []path) bool {
	return slices.ContainsFunc(all, s.matchesPath)
}

func (s steps) matchesPath(p path) bool {
	at := len(p.elements) - 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].kind == stepDeep {
			if at < 0 || p.explicit {
				return false
			}
			return s[:i].somewhere(p, at)
		}
		if at < 0 || !s[i].matches(p, at, i) {
			return false
		}
		at--
	}
	return true
}

// somewhere reports whether the steps match consecutive elements that end before end.
func (s steps) somewhere(p path, end int) bool {
	if len(s) == 0 {
		return end >= 0
	}
	for start := 0; start+len(s) <= end; start++ {
		found := true
		for i := range s {
			found = found && s[i].matches(p, start+i, i)
		}
		if found {
			return true
		}
	}
	return false
}

func (s step) matches(p path, at, position int) bool {
	e := &p.elements[at]
	switch s.kind {
	case stepKey:
		return e.index < 0 && equalASCII(e.key, s.key)
	case stepIndex:
		return e.index == s.index
	case stepType:
		if p.explicit && (position > 0 || basicTypes[s.key]) {
			return false
		}
		for _, kind := range e.types {
			if kind == s.key {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// equalASCII compares keys of selectors, ignoring the case of ASCII letters.
func equalASCII(a, b string) bool {
	return len(a) == len(b) && strings.EqualFold(a, b)
}

// selectorTypes has the types of values in selectors, with their synonyms.
var selectorTypes = map[string]string{
	"string": "string", "binary": "binary", "number": "number", "boolean": "boolean", "bool": "boolean", "datetime": "datetime",
	"array": "array", "list": "array", "object": "object", "event": "event", "attachments": "attachments", "replay": "replay",
	"exception": "error", "error": "error", "stacktrace": "stack", "stack": "stack", "frame": "frame", "request": "http", "http": "http",
	"user": "user", "logentry": "logentry", "message": "message", "thread": "thread", "breadcrumb": "breadcrumb", "log": "log", "ourlog": "log",
	"span": "span", "minidump": "minidump", "heap_memory": "heap_memory", "stack_memory": "stack_memory", "sdk": "sdk",
	"client_sdk_info": "sdk", "trace_metric": "trace_metric",
}

var basicTypes = map[string]bool{
	"string": true, "binary": true, "number": true, "boolean": true, "datetime": true, "array": true, "object": true,
}

// parseSelector parses a selector.
func parseSelector(text string) (selector, error) {
	switch text { // names from the first version of the language
	case "freeform", "email", "sensitive", "text":
		text = "$string"
	case "databag", "container":
		text = "$object"
	}
	return parseSafeField(text)
}

// parseSafeField parses a selector, but not the names from the first version.
func parseSafeField(text string) (selector, error) {
	p := &selectorParser{text: text}
	s, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.skip(); p.at < len(p.text) {
		return nil, fmt.Errorf("unexpected %q at byte %d", p.text[p.at:min(p.at+1, len(p.text))], p.at+1)
	}
	return s, nil
}

// maxSelectorDepth is the maximum nesting of parentheses.
const maxSelectorDepth = 32

type selectorParser struct {
	text string
	at   int
}

func (p *selectorParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// accept consumes the first of the tokens that matches.
func (p *selectorParser) accept(tokens ...string) bool {
	p.skip()
	for _, token := range tokens {
		if strings.HasPrefix(p.text[p.at:], token) {
			p.at += len(token)
			return true
		}
	}
	return false
}

func (p *selectorParser) or(depth int) (selector, error) {
	if depth > maxSelectorDepth {
		return nil, errors.New("too many parentheses")
	}
	all, err := p.list(depth, p.and, "||", "|")
	if err != nil || len(all) == 1 {
		return first(all), err
	}
	return anyOf(all), nil
}

func (p *selectorParser) and(depth int) (selector, error) {
	all, err := p.list(depth, p.operand, "&&", "&")
	if err != nil || len(all) == 1 {
		return first(all), err
	}
	return allOf(all), nil
}

func (p *selectorParser) list(depth int, parse func(int) (selector, error), separators ...string) (all []selector, err error) {
	for {
		s, err := parse(depth)
		if err != nil {
			return nil, err
		}
		if all = append(all, s); !p.accept(separators...) {
			return all, nil
		}
	}
}

func first(all []selector) selector {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

func (p *selectorParser) operand(depth int) (selector, error) {
	if p.accept("~", "!") {
		s, err := p.group(depth)
		return not{s}, err
	}
	return p.group(depth)
}

func (p *selectorParser) group(depth int) (selector, error) {
	if !p.accept("(") {
		return p.steps()
	}
	s, err := p.or(depth + 1)
	if err == nil && !p.accept(")") {
		err = errors.New("a closing parenthesis is missing")
	}
	return s, err
}

func (p *selectorParser) steps() (selector, error) {
	var all steps
	deep := false
	for {
		s, err := p.step()
		if err != nil {
			return nil, err
		}
		if s.kind == stepDeep && deep {
			return nil, errors.New("** can be used only once in a path")
		}
		deep = deep || s.kind == stepDeep
		if all = append(all, s); !p.accept(".") {
			break
		}
	}
	if len(all) == 1 && all[0].kind == stepWildcard {
		return nil, errors.New("* must be part of a path")
	}
	return all, nil
}

func (p *selectorParser) step() (step, error) {
	switch {
	case p.accept("**"):
		return step{kind: stepDeep}, nil
	case p.accept("*"):
		return step{kind: stepWildcard}, nil
	case p.accept("'"):
		return p.quoted()
	case p.accept("$"):
		name := p.take(func(b byte) bool { return b >= 'a' && b <= 'z' || b == '_' })
		kind, known := selectorTypes[name]
		if !known {
			return step{}, fmt.Errorf("$%s is not a type of values", name)
		}
		return step{kind: stepType, key: kind}, nil
	}
	if digits := p.take(func(b byte) bool { return b >= '0' && b <= '9' }); digits != "" {
		index, err := strconv.Atoi(digits)
		if err != nil {
			return step{}, fmt.Errorf("%s is not an index", digits)
		}
		return step{kind: stepIndex, index: index}, nil
	}
	start := p.at
	key := p.take(func(b byte) bool { return isName(b) && b != '.' })
	if key == "" || key[0] == '-' {
		return step{}, fmt.Errorf("expected a name, a type, * or ** at byte %d", start+1)
	}
	return step{kind: stepKey, key: key}, nil
}

// quoted parses a quoted key, in which two quotes represent one.
func (p *selectorParser) quoted() (step, error) {
	var key strings.Builder
	for ; p.at < len(p.text); p.at++ {
		if p.text[p.at] == '\'' {
			if !strings.HasPrefix(p.text[p.at+1:], "'") {
				p.at++
				if key.Len() == 0 {
					break
				}
				return step{kind: stepKey, key: key.String()}, nil
			}
			p.at++
		}
		key.WriteByte(p.text[p.at])
	}
	return step{}, errors.New("a key in quotes is empty or has no closing quote")
}

func (p *selectorParser) take(belongs func(byte) bool) string {
	start := p.at
	for p.at < len(p.text) && belongs(p.text[p.at]) {
		p.at++
	}
	return p.text[start:p.at]
}

// quoteKey quotes a key for a selector.
func quoteKey(key string) string { return "'" + strings.ReplaceAll(key, "'", "''") + "'" }
