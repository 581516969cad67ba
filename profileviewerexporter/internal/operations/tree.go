// SPDX-License-Identifier: Apache-2.0

package operations

// numCallees is the number of kinds of callees.
const numCallees = int(Remote) + 1

// maxDepth is the maximum number of ancestors that a call counts for, and that a sample is looked
// up in. Traces of web frameworks are up to thirty spans deep.
const maxDepth = 64

// Node is a span in the table, or a parent that has not arrived.
type Node struct {
	key      Key
	of       *operation // nil: it has not arrived, or was removed
	parent   *Node
	place    int // in operation.slowest
	duration uint64
	calls    [numCallees]uint64 // nanoseconds, of calls below this span
	children int32
	callee   Callee
	root     bool // of the part of the trace that is in this service
	failed   bool
}

// spent returns the time of a span that has arrived in calls. A call is all of it, with the calls
// below.
func (n *Node) spent() (calls [numCallees]uint64) {
	if n.callee == None {
		return n.calls
	}
	calls[n.callee] = n.duration
	return calls
}

// spread adds the calls of a span that has arrived to its ancestors.
func (n *Node) spread() {
	if n.root {
		return
	}
	below := n.spent()
	if below == ([numCallees]uint64{}) {
		return
	}
	at := n
	for range maxDepth {
		if at = at.parent; at == nil {
			return
		}
		for callee, duration := range below {
			at.calls[callee] += duration
			if at.of != nil && at.callee == None {
				at.of.calls[callee] += duration
			}
		}
		if at.of == nil || at.root || at.callee != None {
			return // an empty node spreads its calls when it is filled
		}
	}
}

// ancestors visits the span and those above it in its service, up to the root.
func (n *Node) ancestors(visit func(*Node)) {
	service := n.of.service
	for range maxDepth {
		if n == nil || n.of == nil || n.of.service != service {
			return
		}
		if visit(n); n.root {
			return
		}
		n = n.parent
	}
}
