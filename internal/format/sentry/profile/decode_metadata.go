// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// describeThreads adds names and priorities to the threads that samples refer to. It skips other
// threads, because Python lists every live thread, and a hostile list may be long.
func (d *sampledDecoder) describeThreads() {
	d.eachEntry(d.threadMetadata, "thread_metadata", func(id, object []byte) {
		thread, named := d.threadByID[string(id)]
		if !named {
			return
		}
		var metadata struct {
			Name     string `json:"name"`
			Priority *int64 `json:"priority"`
		}
		if json.Unmarshal(object, &metadata) != nil {
			d.out.addFlaw("thread_metadata")
		}
		d.reserve(metadataBytes + len(metadata.Name))
		d.out.Threads[thread].Name, d.out.Threads[thread].Priority = metadata.Name, metadata.Priority
	})
}

// describeQueues adds labels to the queues that samples refer to.
func (d *sampledDecoder) describeQueues() {
	d.eachEntry(d.queueMetadata, "queue_metadata", func(address, object []byte) {
		queue, named := d.queueByAddress[string(address)]
		if !named {
			return
		}
		var metadata struct {
			Label string `json:"label"`
		}
		if json.Unmarshal(object, &metadata) != nil {
			d.out.addFlaw("queue_metadata")
		}
		d.reserve(metadataBytes + len(metadata.Label))
		d.out.Queues[queue].Label = metadata.Label
	})
}

// metadataBytes is the memory of a small text and a number.
const metadataBytes = 32

// eachEntry visits the members of an object, which must be valid JSON.
func (d *sampledDecoder) eachEntry(object []byte, field string, visit func(key, value []byte)) {
	if len(object) == 0 || object[0] == 'n' {
		return
	}
	if object[0] != '{' {
		d.out.addFlaw(field)
		return
	}
	s := jsonscan.Scanner{Data: object}
	s.Open('{')
	for n := 0; ; {
		key, ok := s.Member(&n)
		if !ok {
			return
		}
		visit(key, s.Value())
	}
}
