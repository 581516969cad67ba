package sentry

import "bytes"

// resetSamples starts over with the array: of a repeated key the last counts, as in encoding/json.
func (d *sampledDecoder) resetSamples() {
	d.out.Lost = nil
	samples := &d.out.Samples
	samples.Time, samples.Stack, samples.Thread, samples.Queue =
		samples.Time[:0], samples.Stack[:0], samples.Thread[:0], samples.Queue[:0]
	clear(d.out.Threads) // drops the views into the payload
	clear(d.out.Queues)
	clear(d.plainIDs)
	d.threadByID, d.queueByAddress = emptied(d.threadByID), emptied(d.queueByAddress)
	d.out.Threads, d.threadAfter, d.plainIDs = d.out.Threads[:0], d.threadAfter[:0], d.plainIDs[:0]
	d.layout, d.layoutKnown = layout{}, false // drops the views into the payload
	d.out.Queues = append(d.out.Queues[:0], Queue{})
}

// samples decodes the array "samples".
func (d *sampledDecoder) samples() {
	d.resetSamples()
	if !d.expect('[', "samples") {
		return
	}
	d.open('[')
	for n := 0; d.element(&n); {
		switch {
		case !d.expect('{', "samples"):
			d.out.lose(ReasonInvalidJSON, 1)
		case !d.fastSample():
			d.sample()
		default:
			d.fastSamples()
		}
	}
}

// fastSamples reads the run of samples that follows one, as long as they are alike.
func (d *sampledDecoder) fastSamples() {
	for d.pos+1 < len(d.data) && d.data[d.pos] == ',' && d.data[d.pos+1] == '{' {
		d.pos++
		if !d.fastSample() {
			d.sample()
			return
		}
	}
}

// sample decodes one sample and appends it to the columns if it has its three required fields.
func (d *sampledDecoder) sample() {
	var (
		nanos                uint64
		timed, outOfRange    bool
		stack, thread, queue int32 = absent, absent, 0
	)
	d.layout.parts, d.layoutKnown = d.layout.parts[:0], false
	previous := d.pos
	d.open('{')
	for n := 0; ; {
		key, ok := d.member(&n)
		if !ok {
			break
		}
		d.peek()
		start, field := d.pos, fieldOther
		switch string(key) {
		case "stack_id":
			stack, field = d.index("samples.stack_id"), fieldStack
		case "thread_id":
			thread, field = d.thread(), fieldThread
		case d.format.timeKey():
			nanos, timed, outOfRange = d.time()
			field = fieldTime
		case "queue_address": // V1, cocoa
			queue = d.queue()
		default:
			d.skip()
		}
		if d.err != nil {
			return
		}
		previous = d.layout.value(d.data, field, d.format, previous, start, d.pos)
	}
	switch {
	case d.err != nil:
		return
	case outOfRange:
		d.out.lose(ReasonTimeOutOfRange, 1)
		return
	case !timed || thread == absent:
		d.out.lose(ReasonInvalidJSON, 1)
		return
	case stack == absent: // negative (react-native sends -1), missing, or no whole number
		d.out.lose(ReasonMalformedSamples, 1)
		return
	}
	d.appendSample(nanos, stack, thread)
	d.appendQueue(queue)
	d.layout.suffix, d.layoutKnown = d.data[previous:d.pos], d.layout.known() && len(d.out.Samples.Queue) == 0
}

func (d *sampledDecoder) appendSample(nanos uint64, stack, thread int32) {
	samples := &d.out.Samples
	samples.Time = push(samples.Time, nanos)
	samples.Stack = push(samples.Stack, stack)
	samples.Thread = push(samples.Thread, thread)
}

// appendQueue begins the column with the first sample that names a queue.
func (d *sampledDecoder) appendQueue(queue int32) {
	samples := &d.out.Samples
	if queue == 0 && len(samples.Queue) == 0 {
		return
	}
	for len(samples.Queue) < len(samples.Time)-1 {
		samples.Queue = append(samples.Queue, 0)
	}
	samples.Queue = append(samples.Queue, queue)
}

// time decodes the time of a sample in the format's own field: the other format's is a field nobody knows.
func (d *sampledDecoder) time() (nanos uint64, ok, outOfRange bool) {
	if d.format == formatV2 {
		return d.timestamp()
	}
	return d.elapsed()
}

// timestamp decodes the time of a V2 sample: unix seconds with up to seven decimals as a rule.
func (d *sampledDecoder) timestamp() (nanos uint64, ok, outOfRange bool) {
	text, quoted, ok := d.scalar()
	if quoted {
		d.out.flaw("samples.timestamp")
		ok = isNumber(text)
	}
	if !ok || d.err != nil {
		d.out.flaw("samples.timestamp")
		return 0, false, false
	}
	nanos, inRange := parseUnixNanos(text)
	return nanos, true, !inRange
}

// elapsed decodes the time of a V1 sample: whole nanoseconds, as a number (node 7 and 8, go, php) or as a string.
func (d *sampledDecoder) elapsed() (nanos uint64, ok, outOfRange bool) {
	text, _, ok := d.scalar()
	if ok {
		nanos, ok = parseUint(text)
	}
	if !ok {
		d.out.flaw("samples.elapsed_since_start_ns")
		return 0, false, false
	}
	return nanos, true, nanos >= maxUnixSeconds*nanosPerSecond
}

// thread decodes a thread id, a string or a number, and gives its index in Threads.
func (d *sampledDecoder) thread() int32 {
	id, quoted, ok := d.scalar()
	if !ok || d.err != nil || (!quoted && bytes.ContainsAny(id, ".eE")) {
		d.out.flaw("samples.thread_id")
		return absent
	}
	// V1 ids are unsigned numbers, sent as numbers or strings; V2 ids are strings with any text. Others are kept as they are.
	_, isUint := parseUint(id)
	published := quoted && d.format == formatV2 || isUint && d.format == formatV1
	if !published {
		d.out.flaw("samples.thread_id")
	}
	thread, known := d.threadByID[string(id)]
	if !known {
		thread = int32(len(d.out.Threads))
		name := view(id)
		d.out.Threads = append(d.out.Threads, Thread{ID: name})
		d.threadAfter = append(d.threadAfter, thread)
		d.plainIDs = append(d.plainIDs, nil)
		if published { // the fast path counts no flaws
			d.plainIDs[thread] = plainID(name)
		}
		d.threadByID[name] = thread
	}
	return thread
}

// queue decodes the address of a dispatch queue and gives its index in Queues.
func (d *sampledDecoder) queue() int32 {
	if !d.expect('"', "samples.queue_address") {
		return 0
	}
	address := d.text()
	if len(address) == 0 {
		return 0
	}
	queue, known := d.queueByAddress[string(address)]
	if !known {
		queue = int32(len(d.out.Queues))
		d.out.Queues = append(d.out.Queues, Queue{Address: view(address)})
		d.queueByAddress[view(address)] = queue
	}
	return queue
}

func isNumber(text []byte) bool {
	s := scanner{data: text}
	s.number()
	return s.err == nil && s.pos == len(text) && len(text) > 0 && !isSpace(text[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// keepSamples removes the samples whose stack is not there.
func (d *sampledDecoder) keepSamples() {
	samples, kept := &d.out.Samples, 0
	for i, stack := range samples.Stack {
		if int(stack) >= d.out.Stacks.Len() {
			d.out.lose(ReasonMalformedSamples, 1)
			continue
		}
		if frames := d.out.Stacks.At(stack); len(frames) > 0 && frames[0] == absent {
			d.out.lose(ReasonMalformedStacks, 1)
			continue
		}
		samples.move(i, kept)
		kept++
	}
	samples.truncate(kept)
}
