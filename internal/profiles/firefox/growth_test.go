// SPDX-License-Identifier: Apache-2.0

package firefox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
)

func list(n int, element func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = element(i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func same(text string) func(int) string { return func(int) string { return text } }

// TestOneLongTextOfMany: a text is hashed once, however many frames refer to it by its index.
func TestOneLongTextOfMany(t *testing.T) {
	number := func(i int) string { return fmt.Sprint(i) }
	for _, count := range []int{1000, 2000} {
		data := fmt.Sprintf(`{"meta":{"preprocessedProfileVersion":50,"interval":1},"threads":[{"stringArray":[%q],
			"funcTable":{"name":%s,"fileName":%s,"lineNumber":%s},"frameTable":{"func":%s},"stackTable":{"frame":%s},"samples":{"stack":%s,"time":%[6]s}}]}`,
			strings.Repeat("x", 1<<20), list(count, same("0")), list(count, same("0")), list(count, number), list(count, number), list(count, number), list(count, number))
		f, err := read([]byte(data), importer.Options{})
		require.NoError(t, err)
		assert.Less(t, f.TextBytes(), int64(2*len(data)), count)
		message, _, err := f.Finish()
		require.NoError(t, err)
		assert.Equal(t, count+1, message.Dictionary().LocationTable().Len())
	}
}

// TestSharedTables: tables that all threads share are read once.
func TestSharedTables(t *testing.T) {
	const frames, threads = 1000, 1000
	shared := fmt.Sprintf(`"stringArray":["f"],"funcTable":{"name":[0]},"frameTable":{"func":%s},"stackTable":{"frame":%s,"prefix":%s}`,
		list(frames, same("0")), list(frames, same("-1")), list(frames, same("null"))) // each stack is counted as a loss when it is read
	data := fmt.Sprintf(`{"meta":{"preprocessedProfileVersion":58,"interval":1},"shared":{%s},"threads":%s}`, shared, list(threads, same(`{"samples":{"stack":[0],"time":[1]}}`)))
	f, err := read([]byte(data), importer.Options{})
	require.NoError(t, err)
	_, losses, err := f.Finish()
	require.NoError(t, err)
	assert.Equal(t, []importer.Loss{{What: "frames that do not exist", Count: frames}}, losses)
}
