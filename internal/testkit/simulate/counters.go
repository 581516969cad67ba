// SPDX-License-Identifier: Apache-2.0

package simulate

// counters is the model of a collector: the spans in order of arrival, and their number by chunk.
type counters struct {
	work     *workload
	maxSpans int
	spans    queue
	arrived  []arrivals // seconds of the spans in the queue
	first    int        // of arrived
	present  []int32    // spans by session and chunk, see slot
	lost     int64
}

// chunkSlots is the number of chunks of a session that may have spans in the index: those of the
// longest KeepSpans and MaxDelay, which are minutes.
const chunkSlots = 16

func (c *counters) slot(session uint32, chunk int) *int32 {
	return &c.present[int(session)*chunkSlots+chunk%chunkSlots]
}

func (c *counters) slotOf(s span) *int32 {
	return c.slot(s.session, c.work.sessions[s.session].chunkOf(s.number))
}

// arrivals is the number of spans that arrived in a second.
type arrivals struct {
	second, count int
}

func newCounters(work *workload, maxSpans int) *counters {
	return &counters{work: work, maxSpans: maxSpans, present: make([]int32, chunkSlots*work.Sessions)}
}

func (c *counters) add(now int, s span) {
	c.spans.push(s)
	*c.slotOf(s)++
	if last := len(c.arrived) - 1; last >= c.first && c.arrived[last].second == now {
		c.arrived[last].count++
	} else {
		c.arrived = append(c.arrived, arrivals{now, 1})
	}
	if c.spans.len() > c.maxSpans {
		c.drop()
		c.lost++
	}
}

func (c *counters) expire(now, keep int) {
	for c.first < len(c.arrived) && c.arrived[c.first].second < now-keep {
		c.drop()
	}
	if c.first > len(c.arrived)/2 {
		c.arrived, c.first = append(c.arrived[:0], c.arrived[c.first:]...), 0
	}
}

// drop drops the oldest span.
func (c *counters) drop() {
	*c.slotOf(c.spans.pop())--
	if c.arrived[c.first].count--; c.arrived[c.first].count == 0 {
		c.first++
	}
}

// hold does nothing: what counts is what is there when the chunk is due.
func (c *counters) hold(uint32, int) {}

func (c *counters) link(_ int, session uint32, chunk int) int {
	return int(*c.slot(session, chunk))
}

func (c *counters) crash(int) {
	lost := c.lost
	*c = *newCounters(c.work, c.maxSpans)
	c.lost = lost
}

func (c *counters) size() int      { return c.spans.len() }
func (c *counters) evicted() int64 { return c.lost }

// queue is a queue of spans in blocks, so that its memory follows its length.
type queue struct {
	blocks      [][]span
	first, size int // first is a position in the first block
}

const blockLen = 1 << 14

func (q *queue) len() int { return q.size }

func (q *queue) push(s span) {
	if last := len(q.blocks) - 1; last < 0 || len(q.blocks[last]) == blockLen {
		q.blocks = append(q.blocks, make([]span, 0, blockLen))
	}
	last := len(q.blocks) - 1
	q.blocks[last] = append(q.blocks[last], s)
	q.size++
}

func (q *queue) pop() span {
	s := q.blocks[0][q.first]
	q.size--
	if q.first++; q.first == blockLen {
		q.blocks, q.first = append(q.blocks[:0], q.blocks[1:]...), 0
	}
	return s
}
