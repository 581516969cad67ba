// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// resetSamples clears the samples decoded so far: the last value of a repeated key wins, as in
// encoding/json.
func (d *sampledDecoder) resetSamples() {
	d.out.Lost = nil
	samples := &d.out.Samples
	samples.Time, samples.Stack, samples.Thread, samples.Queue =
		samples.Time[:0], samples.Stack[:0], samples.Thread[:0], samples.Queue[:0]
	clear(d.out.Threads) // drops the views into the payload
	clear(d.out.Queues)
	clear(d.plainIDs)
	d.threadByID, d.queueByAddress = cleared(d.threadByID), cleared(d.queueByAddress)
	d.out.Threads, d.threadAfter, d.plainIDs = d.out.Threads[:0], d.threadAfter[:0], d.plainIDs[:0]
	d.template, d.templateUsable = sampleTemplate{}, false // drops the views into the payload
	d.out.Queues = append(d.out.Queues[:0], Queue{})
}

// samples decodes the array "samples".
func (d *sampledDecoder) samples() {
	d.resetSamples()
	if !d.expect('[', "samples") {
		return
	}
	d.Open('[')
	for n := 0; d.Element(&n); {
		switch {
		case !d.expect('{', "samples"):
			d.out.drop(discard.ReasonInvalidJSON, 1)
		case !d.fastSample():
			d.sample()
		default:
			d.fastSamples()
		}
	}
}

// fastSamples reads the following samples while they match the template.
func (d *sampledDecoder) fastSamples() {
	for d.Pos+1 < len(d.Data) && d.Data[d.Pos] == ',' && d.Data[d.Pos+1] == '{' {
		d.Pos++
		if !d.fastSample() {
			d.sample()
			return
		}
	}
}

// sample decodes one sample and appends it to the columns if it has the three required fields.
func (d *sampledDecoder) sample() {
	var (
		nanos                uint64
		timed, outOfRange    bool
		stack, thread, queue int32 = absent, absent, 0
	)
	d.template.parts, d.templateUsable = d.template.parts[:0], false
	previous := d.Pos
	d.Open('{')
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			break
		}
		d.Peek()
		start, field := d.Pos, fieldOther
		switch string(key) {
		case "stack_id":
			stack, field = d.index("samples.stack_id"), fieldStack
		case "thread_id":
			thread, field = d.thread(), fieldThread
		case d.format.timeKey():
			nanos, timed, outOfRange = d.time()
			field = fieldTime
		case "queue_address": // V1, Cocoa
			queue = d.queue()
		default:
			d.Skip()
		}
		if d.Err != nil {
			return
		}
		previous = d.template.addValue(d.Data, field, d.format, previous, start, d.Pos)
	}
	switch {
	case d.Err != nil:
		return
	case outOfRange:
		d.out.drop(discard.ReasonTimeOutOfRange, 1)
		return
	case !timed || thread == absent:
		d.out.drop(discard.ReasonInvalidJSON, 1)
		return
	case stack == absent: // negative (React Native sends -1), missing, or not a whole number
		d.out.drop(discard.ReasonMalformedSamples, 1)
		return
	}
	d.appendSample(nanos, stack, thread)
	d.appendQueue(queue)
	d.template.suffix, d.templateUsable = d.Data[previous:d.Pos], d.template.usable() && len(d.out.Samples.Queue) == 0
}

func (d *sampledDecoder) appendSample(nanos uint64, stack, thread int32) {
	samples := &d.out.Samples
	samples.Time = push(d, samples.Time, nanos)
	samples.Stack = push(d, samples.Stack, stack)
	samples.Thread = push(d, samples.Thread, thread)
}

// appendQueue appends to the column of queues. The column exists only if a sample names a queue.
func (d *sampledDecoder) appendQueue(queue int32) {
	samples := &d.out.Samples
	if queue == 0 && len(samples.Queue) == 0 {
		return
	}
	for len(samples.Queue) < len(samples.Time)-1 && d.Err == nil {
		samples.Queue = push(d, samples.Queue, 0)
	}
	samples.Queue = push(d, samples.Queue, queue)
}

// time decodes the time of a sample from the field of its format. It treats the field of the other
// format as unknown.
func (d *sampledDecoder) time() (nanos uint64, ok, outOfRange bool) {
	if d.format == formatV2 {
		return d.timestamp()
	}
	return d.elapsed()
}

// timestamp decodes the time of a V2 sample: Unix seconds, usually with up to seven decimals.
func (d *sampledDecoder) timestamp() (nanos uint64, ok, outOfRange bool) {
	text, quoted, ok := d.Scalar()
	if quoted {
		d.out.addFlaw("samples.timestamp")
		ok = isNumber(text)
	}
	if !ok || d.Err != nil {
		d.out.addFlaw("samples.timestamp")
		return 0, false, false
	}
	nanos, inRange := jsonscan.ParseUnixNanos(text)
	return nanos, true, !inRange
}

// elapsed decodes the time of a V1 sample: whole nanoseconds as a number (Node 7 and 8, Go, PHP) or
// as a string.
func (d *sampledDecoder) elapsed() (nanos uint64, ok, outOfRange bool) {
	text, _, ok := d.Scalar()
	if ok {
		nanos, ok = jsonscan.ParseUint(text)
	}
	if !ok {
		d.out.addFlaw("samples.elapsed_since_start_ns")
		return 0, false, false
	}
	return nanos, true, nanos >= jsonscan.MaxUnixSeconds*jsonscan.NanosPerSecond
}

// thread decodes a thread ID, sent as a string or a number, and returns its index in Threads.
func (d *sampledDecoder) thread() int32 {
	id, quoted, ok := d.Scalar()
	if !ok || d.Err != nil || (!quoted && bytes.ContainsAny(id, ".eE")) {
		d.out.addFlaw("samples.thread_id")
		return absent
	}
	// V1 IDs are unsigned numbers, sent as numbers or strings; V2 IDs are strings with any text.
	// Other IDs are kept unchanged.
	_, isUint := jsonscan.ParseUint(id)
	published := quoted && d.format == formatV2 || isUint && d.format == formatV1
	if !published {
		d.out.addFlaw("samples.thread_id")
	}
	thread, known := d.threadByID[string(id)]
	if !known {
		thread = int32(len(d.out.Threads))
		name := jsonscan.View(id)
		d.out.Threads = push(d, d.out.Threads, Thread{ID: name})
		d.threadAfter = push(d, d.threadAfter, thread)
		d.plainIDs = push(d, d.plainIDs, nil)
		if !d.reserve(mapEntryBytes + 2*len(name)) {
			return absent
		}
		if published { // the fast path counts no flaws
			d.plainIDs[thread] = plainID(name)
		}
		d.threadByID[name] = thread
	}
	return thread
}

// queue decodes the address of a dispatch queue and returns its index in Queues.
func (d *sampledDecoder) queue() int32 {
	if !d.expect('"', "samples.queue_address") {
		return 0
	}
	address := d.Text()
	if len(address) == 0 {
		return 0
	}
	queue, known := d.queueByAddress[string(address)]
	if !known {
		queue = int32(len(d.out.Queues))
		d.out.Queues = push(d, d.out.Queues, Queue{Address: jsonscan.View(address)})
		if !d.reserve(mapEntryBytes) {
			return 0
		}
		d.queueByAddress[jsonscan.View(address)] = queue
	}
	return queue
}

func isNumber(text []byte) bool {
	s := jsonscan.Scanner{Data: text}
	s.Number()
	return s.Err == nil && s.Pos == len(text) && len(text) > 0 && !jsonscan.IsSpace(text[0])
}

// keepSamples removes samples without a valid stack.
func (d *sampledDecoder) keepSamples() {
	samples, kept := &d.out.Samples, 0
	for i, stack := range samples.Stack {
		if int(stack) >= d.out.Stacks.Len() {
			d.out.drop(discard.ReasonMalformedSamples, 1)
			continue
		}
		if frames := d.out.Stacks.At(stack); len(frames) > 0 && frames[0] == absent {
			d.out.drop(discard.ReasonMalformedStacks, 1)
			continue
		}
		samples.move(i, kept)
		kept++
	}
	samples.truncate(kept)
}
