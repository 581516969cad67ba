// SPDX-License-Identifier: Apache-2.0

package stacktext

import (
	"strconv"
	"strings"
)

// Rewriter replaces parts of a stack trace.
type Rewriter struct {
	// Frame returns the frames for one frame, innermost first. If it reports false, the line stays
	// as it is.
	Frame func(Frame) ([]Frame, bool)
	// Type returns the new name for the type of a Java exception.
	Type func(string) string
}

// Rewrite replaces the frames of JavaScript engines and of Java in a text, and keeps the notation
// of their lines. It also replaces the types of exceptions in front of a message. All other text is
// unchanged.
func Rewrite(text string, r Rewriter) string {
	var b strings.Builder
	b.Grow(len(text))
	l := &lines{text: text}
	for line, ok := l.line(); ok; line, ok = l.line() {
		end := text[l.start+len(line) : l.next] // \n, \r\n or the end of the text
		content := strings.TrimLeft(line, " \t")
		written, ok := r.line(line[:len(line)-len(content)], content)
		switch {
		case !ok:
			b.WriteString(line)
			b.WriteString(end)
		case len(written) > 0:
			b.WriteString(strings.Join(written, orNewline(end)))
			b.WriteString(end)
		}
	}
	return b.String()
}

func orNewline(end string) string {
	if end == "" {
		return "\n"
	}
	return end
}

// line returns the lines that replace a line. content is the line without its indentation.
func (r *Rewriter) line(indent, content string) (written []string, ok bool) {
	if f, ok := javaFrame(content); ok {
		_, jar, _ := strings.Cut(content, ")")
		return r.frames(f, func(f Frame) string {
			return indent + "at " + f.Module + "." + f.Function + "(" + javaPlaceOf(f) + ")" + jar
		})
	}
	plain, more := strings.CutSuffix(content, " {")
	if f, ok := v8Frame(plain); ok && !strings.Contains(content, "eval at ") {
		async := ""
		if strings.HasPrefix(content, "at async ") {
			async = "async "
		}
		tail := ""
		if more {
			tail = " {"
		}
		return r.frames(f, func(f Frame) string {
			if f.Function == "" {
				return indent + "at " + async + placeOf(f) + tail
			}
			return indent + "at " + async + f.Function + " (" + placeOf(f) + ")" + tail
		})
	}
	if f, ok := firefoxFrame(content); ok && f.Line > 0 && f.Column > 0 {
		return r.frames(f, func(f Frame) string { return indent + f.Function + "@" + placeOf(f) })
	}
	return r.headline(indent, content)
}

func (r *Rewriter) frames(f Frame, write func(Frame) string) (written []string, ok bool) {
	frames, ok := r.Frame(f)
	for _, f := range frames {
		written = append(written, write(f))
	}
	return written, ok
}

// headline replaces the type of an exception: "Caused by: a.b: message".
func (r *Rewriter) headline(indent, content string) ([]string, bool) {
	marker := ""
	for _, m := range []string{"Caused by: ", "Suppressed: "} {
		if strings.HasPrefix(content, m) {
			marker = m
		}
	}
	name, rest, found := strings.Cut(content[len(marker):], ":")
	if !isTypeName(name) {
		return nil, false
	}
	original := r.Type(name)
	if found {
		rest = ":" + rest
	}
	return []string{indent + marker + original + rest}, original != name
}

func javaPlaceOf(f Frame) string {
	switch {
	case f.File == "":
		return "Unknown Source"
	case f.Line == 0:
		return f.File
	}
	return f.File + ":" + strconv.FormatUint(uint64(f.Line), 10)
}

func placeOf(f Frame) string {
	return f.File + ":" + strconv.FormatUint(uint64(f.Line), 10) + ":" + strconv.FormatUint(uint64(f.Column), 10)
}
