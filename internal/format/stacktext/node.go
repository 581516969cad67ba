// SPDX-License-Identifier: Apache-2.0

package stacktext

import "strings"

// node is an exception and those that belong to it, while a text is read.
type node struct {
	Exception
	stack     stack
	children  []*node
	enclosing *node // whose outermost frames the text leaves out
}

func (n *node) addChild(child *node, relation Relation) {
	child.Relation = relation
	n.children = append(n.children, child)
}

// count returns the number of frames. It does not recurse: a hostile text nests a chain as deep as it is long.
func (n *node) count() (frames int) {
	for open := []*node{n}; len(open) > 0; {
		last := open[len(open)-1]
		open = append(open[:len(open)-1], last.children...)
		frames += last.stack.total
	}
	return frames
}

// add appends a node and its children, each exception before those that belong to it, in their order.
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

// setHeadline sets type and message of "Type: message". A text without a type, which has no spaces, is a message.
func (n *node) setHeadline(text string) {
	text = strings.TrimRight(text, " \t\r\n")
	name, message, found := strings.Cut(text, ":")
	if name == "" || strings.ContainsAny(name, " \t\n") || found && message != "" && message[0] != ' ' && message[0] != '\n' && message[0] != '\r' {
		n.Message = text
		return
	}
	n.Type, n.Message = name, strings.TrimPrefix(message, " ")
}
