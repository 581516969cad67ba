package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// heap measures the memory of one large request in a process of its own, which does what the receiver does with a gzip body
// that is already there: decompress it into a buffer of the size that its trailer tells, read the envelope, decode, map. What
// counts is the highest size of the heap in between, garbage included, over its collected size at the start.
func (b *bench) heap() {
	large := []payload.Source{
		{Name: "py", Load: func() (payload.Payload, error) { return payload.Python(10 * payload.FiveMB), nil }},
		{Name: "node", Load: func() (payload.Payload, error) { return payload.Node(10 * payload.FiveMB), nil }},
		{Name: "cocoa", Load: func() (payload.Payload, error) { return payload.Cocoa(11 * payload.FiveMB), nil }},
	}
	if len(b.recorded) > 0 {
		large = append(large, b.recorded[0])
	}
	for _, source := range large {
		p, err := source.Load()
		must(err)
		zipped := payload.Zip(p.Envelope())
		var peaks, resident []float64
		for range 3 {
			heap, rss := runHeapChild(zipped)
			peaks, resident = append(peaks, heap/1e6/p.MB()), append(resident, rss/1e6/p.MB())
		}
		slices.Sort(peaks)
		slices.Sort(resident)
		note := fmt.Sprintf("%.0f MB, middle of 3 runs from %.2f to %.2f; resident memory of the process %.2f",
			p.MB(), peaks[0], peaks[2], resident[1])
		printRow("peak heap ÷ decoded payload", p.Name, atMost(4, 2.5), peaks[1], note)
	}
}

// heapChildVariable makes this program the process that is measured: it takes the body from its standard input.
const heapChildVariable = "OTELCOL_SENTRY_BENCH_HEAP_CHILD"

func runHeapChild(zipped []byte) (heap, rss float64) {
	self, err := os.Executable()
	must(err)
	child := exec.Command(self)
	child.Env = append(os.Environ(), heapChildVariable+"=1")
	child.Stdin = bytes.NewReader(zipped)
	child.Stderr = os.Stderr
	output, err := child.Output()
	must(err)
	_, err = fmt.Sscan(string(output), &heap, &rss)
	must(err)
	return heap, rss
}

// heapChild says whether this process is the one to be measured, after doing its work.
func heapChild() bool {
	if os.Getenv(heapChildVariable) == "" {
		return false
	}
	zipped, err := io.ReadAll(os.Stdin)
	must(err)
	runtime.GC()
	start := heapBytes()
	var peak atomic.Uint64
	done := make(chan struct{})
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			peak.Store(max(peak.Load(), heapBytes()))
			select {
			case <-done:
				return
			case <-time.After(200 * time.Microsecond):
			}
		}
	}()
	out := receive(zipped)
	close(done)
	<-sampled
	runtime.KeepAlive(out)
	fmt.Println(peak.Load()-start, highestResident())
	return true
}

// receive is what the receiver does with a body.
func receive(zipped []byte) any {
	size := binary.LittleEndian.Uint32(zipped[len(zipped)-4:])
	body := make([]byte, size)
	unzip, err := gzip.NewReader(bytes.NewReader(zipped))
	must(err)
	_, err = io.ReadFull(unzip, body)
	must(err)
	envelope, err := sentry.ReadEnvelope(body)
	must(err)
	item := envelope.Items[0]
	return decodeAndMapJSON(item.Header.Type == sentry.ItemProfile, item.Payload)
}

// heapBytes are the objects on the heap, garbage that is not yet swept included.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// highestResident is the most memory the process ever had, 0 where the system does not tell.
func highestResident() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.Atoi(fields[0])
	return kilobytes << 10
}
