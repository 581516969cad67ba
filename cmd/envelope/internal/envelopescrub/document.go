// SPDX-License-Identifier: Apache-2.0

package envelopescrub

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// node is a value of a JSON document.
type node struct {
	key     string // of the member
	kind    byte   // its first character
	token   []byte // a view of the document; without quotes if it is a text
	text    string // the unescaped text
	members []node // of an object or a list
}

// opaque are members that contain no text, some of them with millions of values, and encoded
// traces.
var opaque = map[string]bool{"samples": true, "stacks": true, "sampled_profile": true}

// parse reads a document as the receiver does. After an error, the document ends in front of it,
// and rest is not empty.
func parse(document []byte) (root node, rest []byte) {
	p := parser{Scanner: jsonscan.Scanner{Data: document}}
	root = p.value("")
	p.End()
	if p.Err == nil {
		return root, nil
	}
	return root, document[p.read:]
}

type parser struct {
	jsonscan.Scanner
	read int // the end of the last value
}

func (p *parser) value(key string) node {
	n := node{key: key, kind: p.Peek()}
	start := p.Pos
	switch {
	case opaque[key]:
		p.Skip()
	case n.kind == '{':
		if p.Open('{') {
			p.done()
			for count := 0; ; {
				key, ok := p.Member(&count)
				if !ok {
					break
				}
				n.add(p, string(key))
			}
		}
	case n.kind == '[':
		if p.Open('[') {
			p.done()
			for count := 0; p.Element(&count); {
				n.add(p, "")
			}
		}
	case n.kind == '"':
		n.text = string(p.Text())
	default:
		p.Skip()
	}
	if p.Err != nil {
		return n
	}
	n.token = p.Data[start:p.Pos]
	if n.kind == '"' {
		n.token = n.token[1 : len(n.token)-1]
	}
	p.done()
	return n
}

// add adds the next value. A value after an error has no token.
func (n *node) add(p *parser, key string) {
	if member := p.value(key); p.Err == nil || len(member.members) > 0 {
		n.members = append(n.members, member)
	}
}

// done records that everything up to here is valid.
func (p *parser) done() {
	if p.Err == nil {
		p.read = p.Pos
	}
}

// raw returns the value of a node in the form of pcommon's FromRaw.
func (n *node) raw() any {
	switch n.kind {
	case '{':
		object := make(map[string]any, len(n.members))
		for i := range n.members {
			object[n.members[i].key] = n.members[i].raw()
		}
		return object
	case '[':
		list := make([]any, len(n.members))
		for i := range n.members {
			list[i] = n.members[i].raw()
		}
		return list
	case '"':
		return n.text
	case 't', 'f':
		return n.kind == 't'
	case 'n':
		return nil
	}
	number, _ := strconv.ParseFloat(string(n.token), 64)
	return number
}

// isContainer reports whether a node is an object or a list.
func (n *node) isContainer() bool { return n.kind == '{' || n.kind == '[' }
