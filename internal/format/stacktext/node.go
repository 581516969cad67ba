// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// node is an exception and the exceptions that belong to it, during parsing.
type node struct {
	Exception
	stack     stack
	children  []*node
	enclosing *node // the text omits frames that are equal to its outermost frames
}

func (n *node) addChild(child *node, relation Relation) {
	child.Relation = relation
	n.children = append(n.children, child)
}

// count returns the number of frames. It does not recurse, because a hostile text may nest
// exceptions as deeply as its size allows.
func (n *node) count() (frames int) {
	for open := []*node{n}; len(open) > 0; {
		last := open[len(open)-1]
		open = append(open[:len(open)-1], last.children...)
		frames += last.stack.total
	}
	return frames
}

// add appends a node and its children in order, each exception before those that belong to it.
func (t *Trace) add(thrown *node) {
	type entry struct {
		*node
		parent int
	}
	for open := []entry{{thrown, -1}}; len(open) > 0; {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		if len(t.Exceptions) == maxExceptions {
			t.Omitted += 1 + len(open) + last.descendants()
			for _, e := range open {
				t.Omitted += e.descendants()
			}
			return
		}
		exception := last.Exception
		exception.Parent = last.parent
		exception.Frames, exception.Omitted = last.stack.outermostFirst()
		index := len(t.Exceptions)
		t.Exceptions = append(t.Exceptions, exception)
		for i := len(last.children) - 1; i >= 0; i-- {
			open = append(open, entry{last.children[i], index})
		}
	}
}

func (n *node) descendants() (count int) {
	for open := []*node{n}; len(open) > 0; {
		last := open[len(open)-1]
		open = append(open[:len(open)-1], last.children...)
		count += len(last.children)
	}
	return count
}

// setHeadline parses "Type: message". A type contains no spaces; a text without a type is a
// message.
func (n *node) setHeadline(text string) {
	text = strings.TrimRight(text, " \t\r\n")
	name, message, found := strings.Cut(text, ":")
	if name == "" || strings.ContainsAny(name, " \t\n") || found && message != "" && message[0] != ' ' && message[0] != '\n' && message[0] != '\r' {
		n.Message = text
		return
	}
	n.Type, n.Message = name, strings.TrimPrefix(message, " ")
}
