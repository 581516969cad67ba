// SPDX-License-Identifier: Apache-2.0

package spanlink

// track has the spans of one thread of a session.
type track struct {
	ref       trackRef
	session   *session
	thread    string
	intervals intervalTree
}

type trackRef int32

// size returns the memory that the track uses, without its spans.
func (t *track) size() int64 { return int64(trackSize + len(t.thread)) }
