// SPDX-License-Identifier: Apache-2.0

// Package payload provides the profile payloads for benchmarks: generated ones, which are
// deterministic and of any size, and recordings of real SDKs, if they are available.
//
// Generated payloads have the proportions of recordings:
//
//	py      python: ten threads take turns at 101 Hz; nine tenths of the bytes are samples of 77 bytes; stacks of 12 to 30
//	        frames that share their callers; frames with qualified names, two paths, a module and in_app
//	node    three of five frames are copies of others, because each stack brings its own
//	cocoa   frames are addresses, in hundreds of images
//	browser one stack for each node of the call tree, so that 98 of 100 are referred to by no sample; as a recursion 160
//	        deep was recorded (sdk-quirks Q8: 7640 stacks, 115 used, 2.6 MB for 1077 samples)
//	patho   what no SDK sends and anybody can: every sample has a stack of its own, 200 deep
//
// All except browser grow in proportion: ten times the samples have ten times the stacks and
// frames.
package payload

// Payload is the JSON of one profile item.
type Payload struct {
	Name    string
	V1      bool // item type "profile"; otherwise "profile_chunk"
	JSON    []byte
	Samples int
}

// MB returns the size in millions of bytes.
func (p Payload) MB() float64 { return float64(len(p.JSON)) / 1e6 }

// Source creates a payload on demand, because all payloads together take a hundred megabytes.
type Source struct {
	Name string
	Load func() (Payload, error)
}

// Typical returns payloads of ordinary programs with this number of samples.
func Typical(samples int) []Source {
	return []Source{
		{"py", func() (Payload, error) { return Python(samples), nil }},
		{"node", func() (Payload, error) { return Node(samples), nil }},
		{"cocoa", func() (Payload, error) { return Cocoa(samples), nil }},
	}
}

// Extreme returns payloads that hardly any program sends, about as large as a Python payload with
// this number of samples.
func Extreme(samples int) []Source {
	return []Source{
		{"browser", func() (Payload, error) { return Browser(), nil }},
		{"patho", func() (Payload, error) { return Patho(samples * FiveMBPatho / FiveMB), nil }},
	}
}

// Numbers of samples that result in about 5 MB.
const (
	FiveMB      = 57_000
	FiveMBPatho = 4_500
)

// Python returns a chunk in the form of the Python SDK.
func Python(samples int) Payload {
	g := newGenerator(10)
	g.callTree(max(12, samples/95), 12, 30, max(40, samples/25))
	g.open("python", "sentry.python.flask", "2.68.0", "")
	g.writeSamples(samples, `{"timestamp":%[1]s,"thread_id":"%[2]s","stack_id":%[3]d}`, pythonThread, 7)
	g.writeFrames(g.pythonFrame)
	g.writeStacks()
	g.writeThreads(pythonThread, `{"name":"Thread-%d (process_request_thread)"}`)
	return g.close("py", samples)
}

// Node returns a chunk in the form of the Node SDK.
func Node(samples int) Payload {
	g := newGenerator(8)
	g.callTree(max(12, samples/190), 15, 45, max(40, samples/28))
	g.copyFrames(0.05)
	g.open("node", "sentry.javascript.node", "10.75.3", "")
	g.writeSamples(samples, `{"stack_id":%[3]d,"thread_id":"%[2]s","timestamp":%[1]s}`, smallThread, 3)
	g.writeFrames(g.nodeFrame)
	g.writeStacks()
	g.writeThreads(smallThread, `{"name":"worker [%d]"}`)
	return g.close("node", samples)
}

// Cocoa returns a chunk in the form of the Cocoa SDK, from a release build of an iOS app.
func Cocoa(samples int) Payload {
	g := newGenerator(9)
	g.callTree(max(12, samples/38), 10, 50, max(40, samples/9))
	g.open("cocoa", "sentry.cocoa", "9.1.0", g.imagesJSON())
	g.writeSamples(samples, `{"timestamp":%[1]s,"stack_id":%[3]d,"thread_id":"%[2]s"}`, smallThread, 6)
	g.writeFrames(g.cocoaFrame)
	g.writeStacks()
	g.writeThreads(smallThread, `{"name":"com.example.worker.%d","priority":31}`)
	return g.close("cocoa", samples)
}

// Browser returns a chunk in the form of the browser SDK, from a page with a recursion.
func Browser() Payload {
	const samples = 1077
	g := newGenerator(1)
	g.everyNode(48, 160)
	g.open("javascript", "sentry.javascript.browser", "11.12.0", "")
	g.writeFrames(g.browserFrame)
	g.writeStacks()
	g.writeSamples(samples, `{"stack_id":%[3]d,"thread_id":"%[2]s","timestamp":%[1]s}`, smallThread, 4)
	g.writeThreads(smallThread, `{"name":"main [%d]"}`)
	return g.close("browser", samples)
}

// Patho returns a chunk in the form of the Python SDK, with a new random stack of 200 frames for
// every sample.
func Patho(samples int) Payload {
	g := newGenerator(10)
	g.randomStacks(samples, 200, 2000)
	g.open("python", "sentry.python.flask", "2.68.0", "")
	g.writeSamplesInOrder(samples, `{"timestamp":%[1]s,"thread_id":"%[2]s","stack_id":%[3]d}`, pythonThread, 7)
	g.writeFrames(g.pythonFrame)
	g.writeStacks()
	g.writeThreads(pythonThread, `{"name":"Thread-%d (process_request_thread)"}`)
	return g.close("patho", samples)
}
