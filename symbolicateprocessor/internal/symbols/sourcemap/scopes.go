// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// function is a function in a script. Names are those of the script.
type function struct {
	start    place
	params   place  // where V8 says that the function is: the parenthesis, or the parameter of an arrow function
	name     []part // its own name, or the place that it is assigned to: a.b.c = function
	class    int32  // of a method: its number; 0 = none, or it has no name
	accessor string // "get ", "set " or empty, as V8 writes it in front of the name
}

// part is an identifier of a name.
type part struct {
	text   string
	at     place
	spaced bool // one space is in front of it
}

const (
	// maxDepth bounds nested brackets. Real bundles stay below 300.
	maxDepth = 20_000

	// maxParts: longer chains are not names.
	maxParts = 8

	maxFunctions = 1 << 22
)

// functions receives the functions of a script.
type functions interface {
	// begin adds a function whose end is not known yet, and returns its number, in order of calls.
	begin(function) (int, error)
	// end sets the end of a function.
	end(number int, at place)
	// class returns the number of a name of a class.
	class(name []part) (int32, error)
}

// findFunctions finds the functions of a script. It does not parse JavaScript: it tracks brackets
// and the text in front of a function. An error means that the brackets do not match, so that the
// result would be wrong, or that the work has reached a limit.
func findFunctions(work *symbols.Work, script string, found functions) error {
	p := &scopeParser{work: work, scan: scanner{src: script}, frames: []bracket{{kind: block}}, functions: found}
	if err := p.run(); err != nil {
		return fmt.Errorf("line %d, column %d of the script: %w", p.at.at.line+1, p.at.at.column+1, err)
	}
	return nil
}

func (p place) compare(q place) int {
	switch {
	case p == q:
		return 0
	case p.line < q.line || p.line == q.line && p.column < q.column:
		return -1
	}
	return 1
}

// partOf returns a part of a name. Names are clipped, because several functions can share one.
func (p *scopeParser) partOf(text string, at place) part {
	spaced := p.prev.end.line == at.line && p.prev.end.column+1 == at.column
	return part{text[:min(len(text), maxName)], at, spaced}
}

// bracket is an open bracket, or the script itself.
type bracket struct {
	kind     bracketKind
	ternary  int     // question marks without their colon
	arrows   []arrow // functions without braces around their body, which end here
	atKey    bool    // in an object or class: a key comes next
	key      []part  // the last key
	accessor string  // in front of the key
	class    int32   // the number of the class's name
	fn       int     // of a body or of parameters

	// For a parenthesis, which contains parameters if => follows.
	start, params place // start is that of a preceding async
	target        []part
}

type arrow struct{ fn, ternary int }

const bracketBytes = int64(unsafe.Sizeof(bracket{}))

// arrowBytes is the memory of an arrow in a list. It is not released before the end of the script:
// x=>x=>x=> nests without brackets.
const arrowBytes = int64(unsafe.Sizeof(arrow{}))

type bracketKind uint8

const (
	paren bracketKind = iota
	control
	parameters
	square
	block
	object
	class
	body
	substitution
)

type scopeParser struct {
	work      *symbols.Work
	scan      scanner
	frames    []bracket
	deepest   int // claimed length of frames
	functions functions
	count     int // of functions

	at, prev    lexeme
	member      bool // prev follows a dot: it is not a keyword
	conditional bool // the last colon belongs to a question mark

	chain  []part // the identifiers of a.b.c so far
	target []part // the name for a function that starts here

	pending      pendingKind // a function or class begins
	pendingStart place
	pendingName  []part
	pendingDepth int

	async   place   // start of a preceding async
	isAsync bool    // prev is async
	closed  bracket // the last closed bracket
	word    bracket // prev as the parameter of an arrow function
}

type pendingKind uint8

const (
	pendingNone pendingKind = iota
	pendingFunction
	pendingClass
)

var (
	errBrackets = errors.New("unbalanced brackets")
	errTooLarge = fmt.Errorf("more than %d functions, or %d brackets in brackets", maxFunctions, maxDepth)
)

func (p *scopeParser) run() (err error) {
	for {
		before := p.scan.i
		if p.at, err = p.scan.next(p.slashIsRegex()); err != nil {
			return err
		}
		if err := p.step(); err != nil {
			return err
		}
		if err := p.work.Step(p.scan.i - before); err != nil {
			return err
		}
		if p.at.kind == endOfFile {
			return nil
		}
	}
}

func (p *scopeParser) top() *bracket { return &p.frames[len(p.frames)-1] }

// step processes a lexeme.
func (p *scopeParser) step() error {
	t := p.at
	target, wasMember, wasAsync := p.target, p.member, p.isAsync
	p.target, p.isAsync = nil, false
	p.endStatement(t)
	p.member = p.prev.kind == punct && (p.prev.text == "." || p.prev.text == "?.")
	switch t.kind {
	case endOfFile:
		if len(p.frames) > 1 {
			return errBrackets
		}
		p.endArrows(0)
		return nil
	case word:
		p.word = bracket{start: t.at, params: t.at, target: target}
		if wasAsync {
			p.word.start = p.async
		}
		p.wordStep(t, target, wasAsync)
	case text, number:
		p.chain = nil
		p.setKey(t)
		p.endPendingFunction()
	case templateOpen:
		p.chain = nil
		if err := p.push(bracket{kind: substitution}); err != nil {
			return err
		}
	case punct:
		if err := p.punctStep(t, target, wasMember, wasAsync); err != nil {
			return err
		}
	default:
		p.chain = nil
	}
	p.prev = p.at // a template after a substitution replaces it
	return nil
}

func (p *scopeParser) wordStep(t lexeme, target []part, wasAsync bool) {
	me := p.partOf(t.text, t.at)
	frame := p.top()
	isKey := (frame.kind == object || frame.kind == class) && frame.atKey
	switch {
	case p.member:
		if p.chain != nil && len(p.chain) < maxParts {
			p.chain = append(p.chain, me)
		} else {
			p.chain = nil
		}
		return
	case isKey:
		p.setKey(t)
		p.chain = []part{me}
		return
	case p.pending == pendingClass && p.prev.text == "class" && t.text != "extends" && p.pendingName != nil: // A = class _A: bundlers add the second
		p.chain = nil
		return
	case p.pending == pendingFunction || p.pending == pendingClass && p.prev.text == "class" && t.text != "extends":
		p.pendingName = []part{me}
		p.chain = nil
		return
	case t.text == "function" || t.text == "class":
		p.pending, p.pendingStart, p.pendingName, p.pendingDepth = pendingFunction, t.at, target, len(p.frames)
		if wasAsync {
			p.pendingStart = p.async
		}
		if t.text == "class" {
			p.pending = pendingClass
		}
		p.chain = nil
		return
	case t.text == "async":
		p.isAsync, p.async, p.target = true, t.at, target
	}
	p.chain = []part{me}
}

// setKey stores the key of an object or class.
func (p *scopeParser) setKey(t lexeme) {
	if frame := p.top(); frame.atKey {
		name := t.text
		if t.kind == text {
			name = name[1 : len(name)-1]
		}
		frame.key, frame.accessor = []part{p.partOf(name, t.at)}, ""
		if p.prev.kind == word && (p.prev.text == "get" || p.prev.text == "set") {
			frame.accessor = p.prev.text + " "
		}
	}
}

// endPendingFunction forgets a function that turned out not to be one.
func (p *scopeParser) endPendingFunction() {
	if p.pending == pendingFunction {
		p.pending = pendingNone
	}
}

func (p *scopeParser) punctStep(t lexeme, target []part, wasMember, wasAsync bool) error {
	chain := p.chain
	switch t.text {
	case ".", "?.":
		if p.prev.kind != word {
			p.chain = nil
		}
		return nil
	}
	p.chain = nil
	frame := p.top()
	switch t.text {
	case "(":
		return p.openParen(t, target, wasMember, wasAsync)
	case "[":
		return p.push(bracket{kind: square})
	case "{":
		return p.openBrace(t, wasMember)
	case ")", "]", "}":
		return p.close(t)
	case "=>":
		return p.arrow()
	case "=", "||=", "&&=", "??=":
		if p.prev.kind == word {
			p.target = chain
		}
		frame.atKey = false
		if frame.kind == class && p.prev.kind != word {
			p.target = frame.key
		}
	case ":":
		p.conditional = frame.ternary > 0
		switch {
		case p.conditional:
			p.endArrows(frame.ternary)
			frame.ternary--
		case frame.kind == object && frame.atKey:
			frame.atKey, p.target = false, frame.key
		}
	case "?":
		frame.ternary++
	case "...":
		frame.atKey = false
	case ",":
		p.endArrows(0)
		frame.ternary = 0
		frame.atKey = frame.kind == object
	case ";":
		p.endArrows(0)
		frame.ternary = 0
		frame.atKey = frame.kind == class
	}
	return nil
}

func (p *scopeParser) push(b bracket) error {
	if len(p.frames) == maxDepth {
		return errTooLarge
	}
	if depth := len(p.frames); depth > p.deepest {
		if err := p.work.Claim(bracketBytes); err != nil {
			return err
		}
		p.deepest = depth
	}
	p.frames = append(p.frames, b)
	return nil
}

func (p *scopeParser) openParen(t lexeme, target []part, wasMember, wasAsync bool) error {
	frame := p.top()
	switch {
	case p.pending == pendingFunction && p.pendingDepth == len(p.frames):
		p.pending = pendingNone
		return p.pushParameters(function{start: p.pendingStart, params: t.at, name: p.pendingName})
	case (frame.kind == object || frame.kind == class) && frame.atKey && (p.prev.kind == word || p.prev.kind == text || p.prev.kind == number || p.prev.text == "]"):
		f := function{start: t.at, params: t.at, name: frame.key, class: frame.class, accessor: frame.accessor}
		if p.prev.text == "]" {
			f.name = nil
		} else {
			f.start = p.prev.at
		}
		frame.atKey = false
		return p.pushParameters(f)
	}
	b := bracket{kind: paren, start: t.at, params: t.at, target: target}
	if wasAsync {
		b.start = p.async
	}
	if p.prev.kind == word && !wasMember {
		switch p.prev.text {
		case "if", "while", "for", "with":
			b.kind = control
		}
	}
	return p.push(b)
}

func (p *scopeParser) pushParameters(f function) error {
	fn, err := p.add(f)
	if err != nil {
		return err
	}
	return p.push(bracket{kind: parameters, fn: fn})
}

func (p *scopeParser) add(f function) (int, error) {
	if p.count == maxFunctions {
		return 0, errTooLarge
	}
	p.count++
	return p.functions.begin(f)
}

func (p *scopeParser) openBrace(t lexeme, wasMember bool) error {
	frame := p.top()
	switch {
	case p.prev.text == ")" && p.prev.kind == punct && p.closed.kind == parameters:
		return p.push(bracket{kind: body, fn: p.closed.fn})
	case p.prev.text == "=>":
		last := frame.arrows[len(frame.arrows)-1]
		frame.arrows = frame.arrows[:len(frame.arrows)-1]
		return p.push(bracket{kind: body, fn: last.fn})
	case p.pending == pendingClass && p.pendingDepth == len(p.frames) && p.prev.text != "extends":
		name := p.pendingName
		p.pending = pendingNone
		number, err := p.functions.class(name)
		if err != nil {
			return err
		}
		return p.push(bracket{kind: class, class: number, atKey: true})
	case p.startsExpression(wasMember):
		return p.push(bracket{kind: object, atKey: true})
	}
	return p.push(bracket{kind: block})
}

// startsExpression reports whether a brace after prev opens an object.
func (p *scopeParser) startsExpression(wasMember bool) bool {
	switch p.prev.kind {
	case punct:
		switch p.prev.text {
		case ")", "]", "}", "{", ";":
			return false
		case ":":
			return p.top().kind == object || p.conditional
		}
		return true
	case templateOpen:
		return true
	case word:
		if wasMember {
			return false
		}
		switch p.prev.text {
		case "return", "typeof", "case", "in", "of", "yield", "await", "throw", "new", "delete", "void", "default", "instanceof", "extends":
			return true
		}
	}
	return false
}

func (p *scopeParser) close(t lexeme) error {
	if len(p.frames) == 1 {
		return errBrackets
	}
	p.endArrows(0)
	frame := *p.top()
	p.frames = p.frames[:len(p.frames)-1]
	want := "}"
	switch frame.kind {
	case paren, control, parameters:
		want = ")"
	case square:
		want = "]"
	}
	if t.text != want {
		return errBrackets
	}
	p.closed = frame
	if outer := p.top(); frame.kind == square && outer.atKey {
		outer.key = nil // computed
	}
	switch frame.kind {
	case body:
		p.functions.end(frame.fn, t.end)
		if outer := p.top(); outer.kind == class {
			outer.atKey = true
		}
	case substitution:
		rest, err := p.scan.afterSubstitution()
		if err != nil {
			return err
		}
		p.at = rest
		if rest.kind == templateOpen {
			return p.push(bracket{kind: substitution})
		}
	case block:
		if outer := p.top(); outer.kind == class { // static {}
			outer.atKey = true
		}
	}
	return nil
}

// arrow starts a function after its parameters: a name or a parenthesis.
func (p *scopeParser) arrow() error {
	from := p.word
	if p.prev.kind == punct {
		from = p.closed
	}
	fn, err := p.add(function{start: from.start, params: from.params, name: from.target})
	if err != nil {
		return err
	}
	frame := p.top()
	if err := p.work.Claim(arrowBytes); err != nil {
		return err
	}
	frame.arrows = append(frame.arrows, arrow{fn, frame.ternary})
	return nil
}

// endArrows ends the functions without braces that started in the current bracket, within at least
// as many conditions.
func (p *scopeParser) endArrows(ternary int) {
	frame := p.top()
	for n := len(frame.arrows); n > 0 && frame.arrows[n-1].ternary >= ternary; n-- {
		p.functions.end(frame.arrows[n-1].fn, p.prev.end)
		frame.arrows = frame.arrows[:n-1]
	}
}

// endStatement handles statements without a semicolon: a new line between two words or values ends
// them.
func (p *scopeParser) endStatement(t lexeme) {
	frame := p.top()
	if !t.newline || frame.kind != block && frame.kind != body && frame.kind != class || p.slashIsRegex() && p.prev.text != "}" {
		return
	}
	if t.kind == word && t.text != "in" && t.text != "instanceof" || t.kind == text || t.kind == number {
		p.endArrows(0)
		frame.ternary = 0
		if frame.kind == class {
			frame.atKey = true
		}
	}
}

// slashIsRegex reports whether a slash after prev starts a regular expression.
func (p *scopeParser) slashIsRegex() bool {
	switch p.prev.kind {
	case number, text, regex, template:
		return false
	case word:
		if p.member {
			return false
		}
		switch p.prev.text {
		case "return", "typeof", "case", "in", "of", "yield", "await", "throw", "new", "delete", "void", "do", "else", "instanceof", "extends":
			return true
		}
		return false
	case punct:
		switch p.prev.text {
		case ")":
			return p.closed.kind == control
		case "]":
			return false
		case "}":
			return p.closed.kind != object
		case "++", "--":
			return false
		}
	}
	return true
}
