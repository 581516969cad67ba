// SPDX-License-Identifier: Apache-2.0

package bench

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
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkHeap measures the memory of one large request in a separate process, which handles a
// gzipped body as the receiver does: it decompresses the body into a buffer of the size in the gzip
// trailer, reads the envelope, decodes and translates. The figure is the peak heap size, including
// garbage, minus the size at the start after a garbage collection. The floor is the size of body
// and result.
func BenchmarkHeap(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(10*typical), recorded[:min(1, len(recorded))]), func(b *testing.B, p payload.Payload) {
		zipped := payload.Zip(p.Envelope())
		var heap, resident float64
		for b.Loop() {
			heap, resident = runHeapChild(zipped)
		}
		report(b, "heap÷payload", heap, float64(len(p.JSON)))
		report(b, "resident÷payload", resident, float64(len(p.JSON)))
		report(b, "floor÷payload", float64(len(p.JSON))+resultBytes(p), float64(len(p.JSON)))
	})
}

// resultBytes returns the size of a translated profile on the heap.
func resultBytes(p payload.Payload) float64 {
	decodeAndMap(p) // fills pools
	runtime.GC()
	before := heapBytes()
	result := decodeAndMap(p)
	runtime.GC()
	size := heapBytes() - before
	runtime.KeepAlive(result)
	return float64(size)
}

// heapChildVariable is set in the process that is measured. It reads the body from its standard
// input.
const heapChildVariable = "OTELCOL_SENTRY_BENCH_HEAP_CHILD"

func runHeapChild(zipped []byte) (heap, resident float64) {
	self, err := os.Executable()
	must(err)
	child := exec.Command(self)
	child.Env = append(os.Environ(), heapChildVariable+"=1")
	child.Stdin = bytes.NewReader(zipped)
	child.Stderr = os.Stderr
	output, err := child.Output()
	must(err)
	_, err = fmt.Sscan(string(output), &heap, &resident)
	must(err)
	return heap, resident
}

// heapChild runs the process that is measured.
func heapChild() {
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
}

// receive handles a body as the receiver does.
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

// heapBytes returns the size of all objects on the heap, including unswept garbage.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// highestResident returns the peak memory of the process, or 0 if the system does not provide it.
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
