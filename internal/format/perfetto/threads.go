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
	tree, track := fieldsOf(p.processTree), fieldsOf(p.trackDescriptor)
	for tree.next() {
		if tree.Number == treeThreads {
			r.nameThread(tree.Bytes, treeTID, treeName)
		}
	}
	for track.next() {
		if track.Number == trackThread {
			r.nameThread(track.Bytes, trackTID, trackName)
		}
	}
	return !tree.Broken && !track.Broken
}

func (r *reader) nameThread(data []byte, tidField, nameField int) {
	var tid uint32
	var name []byte
	for m := fieldsOf(data); m.next(); {
		switch int(m.Number) {
		case tidField:
			tid = m.uint32()
		case nameField:
			name = m.Bytes
		}
	}
	if _, known := r.names[tid]; len(name) > 0 && (known || len(r.names) < maxNames) {
		r.names[tid] = name
	}
}
