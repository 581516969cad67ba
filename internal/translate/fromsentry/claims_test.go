// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// allocatedPerClaim is how many times its claim an item allocates at most until it is delivered,
// garbage included. Growing lists and maps leave half of their memory behind.
const allocatedPerClaim = 3

// TestClaims: no item needs more memory than the receiver claims for it, whatever list of its
// payload is long and however little its elements say.
func TestClaims(t *testing.T) {
	n := 500
	if testsize.Full() {
		n = 5_000
	}
	type worst struct {
		allocated, peak float64
		atAllocated, at string
	}
	all := map[string]*worst{}
	check := func(kind, name string, payload []byte, use func() any) {
		claim := claimOf(t, itemOf(sentry.ItemType(kind), payload))
		allocated, peak := memoryOf(use)
		for retry := 0; testsize.Full() && peak > claim && retry < 5; retry++ {
			_, again := memoryOf(use) // a late collector leaves garbage in the peak, but takes nothing from it
			peak = min(peak, again)
		}
		w := all[kind]
		if w == nil {
			w = &worst{}
			all[kind] = w
		}
		if ratio := float64(allocated) / float64(claim); ratio > w.allocated {
			w.allocated, w.atAllocated = ratio, name
		}
		if ratio := float64(peak) / float64(claim); ratio > w.peak {
			w.peak, w.at = ratio, name
		}
		assert.LessOrEqual(t, allocated, allocatedPerClaim*claim, "%s, %s: %d bytes", kind, name, len(payload))
		if testsize.Full() {
			assert.LessOrEqual(t, peak, claim, "%s, %s: %d bytes", kind, name, len(payload))
		}
	}
	for name, c := range shortest(n) {
		payload := []byte(c.payload)
		check(string(c.item), name, payload, func() any { return translateAny(t, c.item, payload) })
	}
	for i, item := range boundItems {
		kind := item.name
		switch kind {
		case "span container":
			kind = "span"
		}
		_, lists := places(t, item.payload)
		for j, list := range lists {
			for k, element := range shortElements(t, item.payload, list) {
				if !testsize.Full() && (i+j+k)%8 != 0 {
					continue
				}
				payload := repeated(t, item.payload, list, element, n)
				check(kind, fmt.Sprintf("%s %s of %s", item.name, list, element), payload, func() any { return item.size(payload, boundSource()) })
			}
		}
	}
	for kind, w := range all {
		t.Logf("%s: at most %.2f times the claim allocated (%s), peak %.2f (%s)", kind, w.allocated, w.atAllocated, w.peak, w.at)
	}
}

// claimOf returns what the receiver claims for an item.
func claimOf(t *testing.T, item *sentry.Item) int64 {
	claim := Weight(item)
	d, s := new(profile.Decoder), profile.Subject{}
	d.Claim(func(bytes int64) error { claim += bytes; return nil })
	var err error
	switch {
	case item.Header.MetaLength.Set:
		return claim
	case item.Header.Type == sentry.ItemProfile:
		s.Profile, err = d.Profile(item.Payload)
	case item.Header.Type == sentry.ItemProfileChunk:
		s.Chunk, err = d.Chunk(item.Payload)
	default:
		return claim
	}
	if err != nil {
		return claim
	}
	return claim + ProfileWeight(s, len(item.Payload))
}

// memoryOf returns the bytes that a function allocates, and the most that are in use at a time.
// Between two measurements of a collector that runs nearly always, the use may be higher. On one
// processor, the collector gets its part of the time however busy the machine is.
func memoryOf(use func() any) (allocated, peak int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they had for one
	runtime.ReadMemStats(&before)
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		s, peak := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}, uint64(0)
		for {
			metrics.Read(s)
			peak = max(peak, s[0].Value.Uint64())
			select {
			case <-stop:
				most <- peak
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	kept := use()
	runtime.ReadMemStats(&after)
	close(stop)
	peak = int64(<-most) - int64(before.HeapAlloc)
	runtime.KeepAlive(kept)
	return int64(after.TotalAlloc - before.TotalAlloc), peak
}

// shortElements returns elements for a list: the one in the payload, and each with no or one of its
// members.
func shortElements(t *testing.T, payload, list string) (elements []string) {
	var document any
	require.NoError(t, json.Unmarshal([]byte(payload), &document))
	add := func(value any) {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		elements = append(elements, string(text))
	}
	walk(document, "$", func(path string, value any) any {
		if path != list {
			return value
		}
		element := value
		switch all := value.(type) {
		case []any:
			element = all[len(all)-1]
		case map[string]any:
			element = all[slices.Min(slices.Collect(maps.Keys(all)))]
		}
		add(element)
		members, _ := element.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			add(map[string]any{key: members[key]})
		}
		return value
	})
	return append(elements, `{}`, `[]`, `""`, `0`)
}

// repeated returns the payload with n copies of an element behind a list, each with another number
// in its texts and numbers.
func repeated(t *testing.T, payload, list, element string, n int) []byte {
	var document, copied any
	require.NoError(t, json.Unmarshal([]byte(payload), &document))
	require.NoError(t, json.Unmarshal([]byte(element), &copied))
	document = walk(document, "$", func(path string, value any) any {
		if path != list {
			return value
		}
		switch all := value.(type) {
		case []any:
			for i := range n {
				all = append(all, numberedCopy(copied, i))
			}
			return all
		case map[string]any:
			for i := range n {
				all[fmt.Sprint(i)] = copied
			}
		}
		return value
	})
	text, err := json.Marshal(document)
	require.NoError(t, err)
	return []byte(strings.TrimSpace(string(text)))
}
