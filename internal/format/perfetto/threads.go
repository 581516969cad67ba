// SPDX-License-Identifier: Apache-2.0

package perfetto

// Fields of ProcessTree and its threads, and of TrackDescriptor and its ThreadDescriptor.
const (
	treeThreads = 2
	treeTID     = 1
	treeName    = 2

	trackThread = 4
	trackTID    = 2
	trackName   = 5
)

// nameThreads records the thread names in a packet. The last name of a thread counts. Sentry's
// ingest recognizes only "main".
func (r *reader) nameThreads(p *packet) bool {
	tree, track := message{rest: p.processTree}, message{rest: p.trackDescriptor}
	for tree.next() {
		if tree.number == treeThreads {
			r.nameThread(tree.bytes, treeTID, treeName)
		}
	}
	for track.next() {
		if track.number == trackThread {
			r.nameThread(track.bytes, trackTID, trackName)
		}
	}
	return !tree.broken && !track.broken
}

func (r *reader) nameThread(data []byte, tidField, nameField int) {
	var tid uint32
	var name []byte
	for m := (message{rest: data}); m.next(); {
		switch int(m.number) {
		case tidField:
			tid = m.uint32()
		case nameField:
			name = m.bytes
		}
	}
	if _, known := r.names[tid]; len(name) > 0 && (known || len(r.names) < maxNames) {
		r.names[tid] = name
	}
}
