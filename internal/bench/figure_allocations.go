package main

import (
	"fmt"
	"runtime"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// allocations counts what decode and map allocate once their pools are filled. The target is for chunks that consist of
// samples; where nearly every sample has a stack of its own, as in node's large recordings, the number says little.
func (b *bench) allocations() {
	for _, source := range append(payload.Generated()[:3], b.recorded...) {
		p, err := source.Load()
		must(err)
		t := atMost(1.0, 0.5)
		if bytesPerSample := len(p.JSON) / p.Samples; bytesPerSample > 1000 {
			t = noTarget
		}
		objects, bytes := allocated(func() { decodeAndMap(p) })
		perSample := float64(objects) / float64(p.Samples)
		note := fmt.Sprintf("%.2f bytes per byte of JSON", float64(bytes)/float64(len(p.JSON)))
		printRow("allocations per sample", p.Name, t, perSample, note)
	}
}

// allocated gives the objects and the bytes that f allocates, on average.
func allocated(f func()) (objects, bytes uint64) {
	const times = 5
	var before, after runtime.MemStats
	f()
	runtime.ReadMemStats(&before)
	for range times {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.Mallocs - before.Mallocs) / times, (after.TotalAlloc - before.TotalAlloc) / times
}
