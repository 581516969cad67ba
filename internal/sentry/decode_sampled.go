package sentry

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"math"
	"strconv"
)

// sampledDecoder decodes the object "profile" of both formats into columns. This is where the receiver spends its time;
// the shape of the loops follows from the payloads: one chunk has about 60,000 samples of 80 bytes, a few hundred stacks
// and a few thousand frames, except that node repeats frames (165,000 of which 100,000 are duplicates in one recorded
// chunk) and browsers send thousands of stacks no sample refers to.
type sampledDecoder struct {
	scanner
	out Sampled

	stackOffsets []int32 // as in Stacks.ends
	frameIndices []int32 // as in Stacks.frames; -1 where the payload had no usable index

	frameOf     []int32          // index in the payload → index in out.Frames
	frameTexts  [][]byte         // frame → its JSON text
	frameByHash map[uint64]int32 // hash of the text → the last frame that has it; a map of texts would hash them again to grow
	sameHash    []int32          // frame → the frame before it whose text has the same hash
	successors  []int32          // frame → the frame that followed it last time

	threadByID     map[string]int32
	threadAfter    []int32  // thread → the thread that followed it last time
	plainIDs       [][]byte // thread → its id as JSON text, nil if that needs escapes
	queueByAddress map[string]int32

	layout      layout // of the sample before
	layoutKnown bool   // the fast path reads it

	meta   DebugMeta // these two are not scratch
	series []Measurement

	threadMetadata, queueMetadata []byte // JSON text, decoded for the threads and queues that samples name
}

// absent marks a column entry that was not sent or not usable.
const absent = -1

func (d *sampledDecoder) reset(payload []byte) {
	if d.frameByHash == nil {
		d.frameByHash, d.threadByID, d.queueByAddress = map[uint64]int32{}, map[string]int32{}, map[string]int32{}
	}
	d.scanner = scanner{data: validUTF8(payload)}
	d.out.Flaws = nil
	d.resetSamples()
	d.resetStacks()
	d.resetFrames()
	d.threadMetadata, d.queueMetadata = nil, nil
	d.meta, d.series = DebugMeta{}, nil
}

// resetSamples starts over with the array: of a repeated key the last counts, as in encoding/json.
func (d *sampledDecoder) resetSamples() {
	d.out.Lost = nil
	samples := &d.out.Samples
	samples.Time, samples.Stack, samples.Thread, samples.Queue =
		samples.Time[:0], samples.Stack[:0], samples.Thread[:0], samples.Queue[:0]
	clear(d.out.Threads) // drops the views into the payload
	clear(d.out.Queues)
	clear(d.plainIDs)
	clear(d.threadByID)
	clear(d.queueByAddress)
	d.out.Threads, d.threadAfter, d.plainIDs = d.out.Threads[:0], d.threadAfter[:0], d.plainIDs[:0]
	d.layout, d.layoutKnown = layout{parts: d.layout.parts[:0]}, false
	d.out.Queues = append(d.out.Queues[:0], Queue{})
}

func (d *sampledDecoder) resetStacks() {
	d.frameIndices, d.stackOffsets = d.frameIndices[:0], d.stackOffsets[:0]
}

func (d *sampledDecoder) resetFrames() {
	clear(d.out.Frames)
	clear(d.frameByHash)
	clear(d.frameTexts)
	d.out.Frames, d.frameOf = d.out.Frames[:0], d.frameOf[:0]
	d.frameTexts, d.sameHash, d.successors = d.frameTexts[:0], d.sameHash[:0], d.successors[:0]
}

// keptBytes is about what the scratch holds on to.
func (d *sampledDecoder) keptBytes() int {
	const frameSize, mapEntrySize = 160, 48
	return 8*cap(d.out.Samples.Time) + 4*(cap(d.out.Samples.Stack)+cap(d.out.Samples.Thread)+cap(d.out.Samples.Queue)) +
		4*(cap(d.frameIndices)+cap(d.stackOffsets)+cap(d.frameOf)) +
		(frameSize+mapEntrySize)*cap(d.out.Frames) + mapEntrySize*(cap(d.out.Threads)+cap(d.out.Queues))
}

// profile decodes the value of "profile". It says whether that was an object.
func (d *sampledDecoder) profile() bool {
	if !d.expect('{', "profile") {
		return false
	}
	d.open('{')
	for n := 0; ; {
		key, ok := d.member(&n)
		if !ok {
			return true
		}
		switch string(key) {
		case "samples":
			d.samples()
		case "stacks":
			d.stacks()
		case "frames":
			d.frames()
		case "thread_metadata":
			d.threadMetadata = d.value()
		case "queue_metadata":
			d.queueMetadata = d.value()
		default:
			d.skip()
		}
	}
}

// expect says whether the next value starts as wanted. Anything else is skipped, and is a flaw unless it is null.
func (d *sampledDecoder) expect(bracket byte, field string) bool {
	switch d.peek() {
	case bracket:
		return true
	case 'n':
	default:
		d.out.flaw(field)
	}
	d.skip()
	return false
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
		case "timestamp": // V2
			nanos, timed, outOfRange = d.timestamp()
			field = fieldTimestamp
		case "elapsed_since_start_ns": // V1
			nanos, timed, outOfRange = d.elapsed()
			field = fieldElapsed
		case "queue_address": // V1, cocoa
			queue = d.queue()
		default:
			d.skip()
		}
		if d.err != nil {
			return
		}
		previous = d.layout.value(d.data, field, previous, start, d.pos)
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
	samples.Time = append(samples.Time, nanos)
	samples.Stack = append(samples.Stack, stack)
	samples.Thread = append(samples.Thread, thread)
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

// index decodes a non-negative whole number that fits an index; absent for anything else.
func (d *sampledDecoder) index(field string) int32 {
	if c := d.peek(); c-'0' > 9 {
		d.out.flaw(field)
		d.skip()
		return absent
	}
	start, value := d.pos, int64(0)
	for d.pos < len(d.data) && isDigit(d.data[d.pos]) && d.pos-start < 10 {
		value = value*10 + int64(d.data[d.pos]-'0')
		d.pos++
	}
	if next := d.byteAt(d.pos); (next == ',' || next == ']' || next == '}') && value < math.MaxInt32 &&
		(d.data[start] != '0' || d.pos == start+1) {
		return int32(value)
	}
	d.pos = start
	return d.slowIndex(field)
}

// slowIndex is index for what the fast path leaves: white space after the number, fractions, exponents, large numbers.
func (d *sampledDecoder) slowIndex(field string) int32 {
	value, err := strconv.ParseUint(string(d.number()), 10, 31)
	if err != nil || value == math.MaxInt32 {
		d.out.flaw(field)
		return absent
	}
	return int32(value)
}

func (d *sampledDecoder) byteAt(pos int) byte {
	if pos < len(d.data) {
		return d.data[pos]
	}
	return 0
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
	thread, known := d.threadByID[string(id)]
	if !known {
		thread = int32(len(d.out.Threads))
		name := view(id)
		d.out.Threads = append(d.out.Threads, Thread{ID: name})
		d.threadAfter = append(d.threadAfter, thread)
		d.plainIDs = append(d.plainIDs, plainID(name))
		d.threadByID[name] = thread
	}
	return thread
}

// queue decodes the address of a dispatch queue and gives its index in Queues.
func (d *sampledDecoder) queue() int32 {
	address, quoted, ok := d.scalar()
	if !ok || !quoted {
		d.out.flaw("samples.queue_address")
		return 0
	}
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

// stacks decodes the array "stacks": arrays of indices into the payload's frames, leaf first.
func (d *sampledDecoder) stacks() {
	d.resetStacks()
	if !d.expect('[', "stacks") {
		return
	}
	d.open('[')
	for n := 0; d.element(&n); {
		switch {
		case !d.expect('[', "stacks"):
			d.frameIndices = append(d.frameIndices, absent)
		case !d.plainStack():
			d.stack()
		}
		d.stackOffsets = append(d.stackOffsets, int32(len(d.frameIndices)))
	}
}

func (d *sampledDecoder) stack() {
	d.open('[')
	for n := 0; d.element(&n); {
		d.frameIndices = append(d.frameIndices, d.index("stacks"))
	}
}

// plainStack reads a stack without white space whose indices have up to nine digits, the form all SDKs print. If it is not,
// nothing has happened.
func (d *sampledDecoder) plainStack() bool {
	data, pos, indices := d.data, d.pos+1, d.frameIndices
	if pos < len(data) && data[pos] == ']' {
		d.pos = pos + 1
		return true
	}
	for {
		index, end, ok := plainIndex(data, pos)
		if !ok || end == len(data) {
			return false
		}
		indices = append(indices, index)
		pos = end + 1
		switch data[end] {
		case ',':
		case ']':
			d.pos, d.frameIndices = pos, indices
			return true
		default:
			return false
		}
	}
}

// frames decodes the array "frames", each distinct text once.
func (d *sampledDecoder) frames() {
	d.resetFrames()
	if !d.expect('[', "frames") {
		return
	}
	d.open('[')
	before := int32(absent)
	for n := 0; d.element(&n); {
		frame := d.frameAfter(before)
		if frame == absent {
			frame = d.frame()
		}
		if before != absent && frame != absent {
			d.successors[before] = frame
		}
		d.frameOf = append(d.frameOf, frame)
		before = frame
	}
}

// frameAfter reads the frame that followed the frame before it last time, if it is there again: node repeats runs of frames.
// The text of an object says itself where it ends, so equal bytes are the same object.
func (d *sampledDecoder) frameAfter(before int32) int32 {
	if before == absent {
		return absent
	}
	d.peek()
	guess := d.successors[before]
	if guess == absent || !hasPrefixAt(d.data, d.pos, d.frameTexts[guess]) {
		return absent
	}
	d.pos += len(d.frameTexts[guess])
	return guess
}

// frame decodes the next frame and gives its index in Frames.
func (d *sampledDecoder) frame() int32 {
	if !d.expect('{', "frames") {
		return absent
	}
	start := d.pos
	frame := d.out.decodeFrame(&d.scanner)
	if d.err != nil {
		return absent
	}
	text := d.data[start:d.pos]
	hash := maphash.Bytes(frameSeed, text)
	first, seen := d.frameByHash[hash]
	if !seen {
		first = absent
	}
	for index := first; index != absent; index = d.sameHash[index] {
		if string(d.frameTexts[index]) == string(text) {
			return index
		}
	}
	index := int32(len(d.out.Frames))
	if index == MaxFrames {
		d.stop(discard(ReasonTooManyFrames, "more than %d distinct frames", MaxFrames))
		return absent
	}
	d.out.Frames = append(d.out.Frames, frame)
	d.frameTexts = append(d.frameTexts, text)
	d.successors = append(d.successors, absent)
	d.sameHash = append(d.sameHash, first)
	d.frameByHash[hash] = index
	return index
}

var frameSeed = maphash.MakeSeed()

// decodeFrame decodes a frame.
func (out *Sampled) decodeFrame(s *scanner) (f Frame) {
	s.open('{')
	for n := 0; ; {
		key, ok := s.member(&n)
		if !ok {
			return f
		}
		switch string(key) {
		case "function", "name":
			f.Function = out.frameText(s, "frames.function")
		case "module":
			f.Module = out.frameText(s, "frames.module")
		case "filename", "file":
			f.Filename = out.frameText(s, "frames.filename")
		case "abs_path":
			f.AbsPath = out.frameText(s, "frames.abs_path")
		case "package":
			f.Package = out.frameText(s, "frames.package")
		case "platform":
			f.Platform = out.frameText(s, "frames.platform")
		case "lineno", "line":
			f.Line = out.frameNumber(s, "frames.lineno")
		case "colno", "column":
			f.Column = out.frameNumber(s, "frames.colno")
		case "instruction_addr":
			f.InstructionAddr = out.frameAddress(s)
		case "in_app":
			f.InApp = out.frameInApp(s)
		default:
			s.skip()
		}
	}
}

func (out *Sampled) frameText(s *scanner, field string) string {
	switch s.peek() {
	case '"':
		return view(s.text())
	case 'n':
	default:
		out.flaw(field)
	}
	s.skip()
	return ""
}

func (out *Sampled) frameNumber(s *scanner, field string) uint32 {
	if s.peek() == 'n' {
		s.skip()
		return 0
	}
	text, quoted, ok := s.scalar()
	value, isUint := parseUint(text)
	usable := ok && isUint && value <= math.MaxUint32
	if quoted || !usable {
		out.flaw(field)
	}
	if !usable {
		return 0
	}
	return uint32(value)
}

func (out *Sampled) frameAddress(s *scanner) uint64 {
	address := s.address()
	if address.Bad {
		out.flaw("frames.instruction_addr")
	}
	return address.Value
}

func (out *Sampled) frameInApp(s *scanner) InApp {
	switch c := s.peek(); c {
	case 't', 'f':
		s.skip()
		if c == 't' {
			return InAppTrue
		}
		return InAppFalse
	case 'n':
	default:
		out.flaw("frames.in_app")
	}
	s.skip()
	return InAppAbsent
}

func isNumber(text []byte) bool {
	s := scanner{data: text}
	s.number()
	return s.err == nil && s.pos == len(text) && len(text) > 0 && !isSpace(text[0])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// settle resolves the indices once everything is decoded, since the arrays come in any order, and lets go of the samples
// that point at nothing.
func (d *sampledDecoder) settle() Sampled {
	d.resolveStacks()
	d.keepSamples()
	d.describeThreads()
	d.describeQueues()
	return d.out
}

// resolveStacks turns payload frame indices into indices of Frames. A stack with a frame that is not there is marked by an
// absent leaf.
func (d *sampledDecoder) resolveStacks() {
	stacks := Stacks{frames: d.frameIndices, ends: d.stackOffsets}
	for i := range stacks.ends {
		dangling := false
		stack := stacks.At(int32(i))
		for j, index := range stack {
			if index != absent && int(index) < len(d.frameOf) {
				stack[j] = d.frameOf[index]
			} else {
				stack[j] = absent
			}
			dangling = dangling || stack[j] == absent
		}
		if dangling {
			stack[0] = absent
			stacks.dangling++
		}
	}
	d.out.Stacks = stacks
}

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

// describeThreads adds the names to the threads that samples name. The others are passed over: python lists every live
// thread, and a hostile list is long.
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
			d.out.flaw("thread_metadata")
		}
		d.out.Threads[thread].Name, d.out.Threads[thread].Priority = metadata.Name, metadata.Priority
	})
}

// describeQueues adds the labels to the queues that samples name.
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
			d.out.flaw("queue_metadata")
		}
		d.out.Queues[queue].Label = metadata.Label
	})
}

// eachEntry walks an object whose text is known to be valid.
func (d *sampledDecoder) eachEntry(object []byte, field string, visit func(key, value []byte)) {
	if len(object) == 0 || object[0] == 'n' {
		return
	}
	if object[0] != '{' {
		d.out.flaw(field)
		return
	}
	s := scanner{data: object}
	s.open('{')
	for n := 0; ; {
		key, ok := s.member(&n)
		if !ok {
			return
		}
		visit(key, s.value())
	}
}
