// SPDX-License-Identifier: Apache-2.0

package stacktext

// Language is the language of a trace.
type Language int8

const (
	Unknown Language = iota
	Python
	Java // and the other languages of the JVM
	JavaScript
	DotNet
	Go
	Ruby
	PHP
	Native // Rust, C, C++
	Elixir // and Erlang
)

// Trace is a stack trace.
type Trace struct {
	Language   Language
	Exceptions []Exception // the thrown one first; each precedes those that belong to it
	Omitted    int         // exceptions beyond the limit
}

// Exception is an exception of a trace.
type Exception struct {
	Type, Message string   // as in the text, empty if absent
	Parent        int      // index of the exception that this one belongs to; -1 for the thrown one
	Relation      Relation // to the parent
	Frames        []Frame  // outermost first
	Omitted       int      // frames beyond the limit, from the middle
}

// Relation is the relation of an exception to its parent.
type Relation int8

const (
	Thrown     Relation = iota // has no parent
	Cause                      // the cause of the parent
	Context                    // the parent was thrown while this one was being handled
	Suppressed                 // thrown while the parent was propagating, and suppressed
	Member                     // a member of the parent, which is a group
)

// Frame is a frame of a stack.
type Frame struct {
	Function string
	Module   string // class, type, package or module that declares the function
	File     string // a path, a URL or a name, as in the text
	Line     uint32 // 0 = none
	Column   uint32 // 0 = none
	Source   string // the source line
	Package  string // the binary or application that contains the code
	Address  uint64 // of the instruction; 0 = none
	Runtime  bool   // a frame of the runtime, without a file
}

// Parse parses a stack trace of a language. It tries all languages if language is unknown or does
// not match. It reports false if the text has no frames.
func Parse(text string, language Language) (Trace, bool) {
	if language != Unknown {
		if trace, ok := best(text, language); ok {
			return trace, true
		}
	}
	return best(text, Unknown)
}

// parser parses one form of stack traces. It returns the thrown exception, or nil if the text has
// another form.
type parser struct {
	language Language
	parse    func(text string) *node
}

// parsers are sorted by strictness.
var parsers = []parser{
	{Python, parsePython}, {Go, parseGo}, {Ruby, parseRuby}, {PHP, parsePHP}, {PHP, parsePHPLikeJava}, {Java, parseJava},
	{JavaScript, parseV8}, {JavaScript, parseFirefox}, {DotNet, parseDotNet}, {Elixir, parseElixir}, {Native, parseNative},
}

// best returns the trace with the most frames, because a few lines of a trace may look like frames
// of another language.
func best(text string, language Language) (Trace, bool) {
	var found Trace
	most := 0
	for _, p := range parsers {
		if language != Unknown && p.language != language {
			continue
		}
		thrown := p.parse(text)
		if thrown == nil {
			continue
		}
		if n := thrown.count(); n > most {
			found, most = Trace{Language: p.language}, n
			found.add(thrown)
		}
	}
	return found, most > 0
}
