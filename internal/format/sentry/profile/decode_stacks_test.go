// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStackIndices: every index of a frame is read, whatever its digits, and one that is none costs
// its stack.
func TestStackIndices(t *testing.T) {
	const count = 120
	var frames, stacks, samples []string
	for i := range count {
		frames = append(frames, fmt.Sprintf(`{"function":"f%d"}`, i))
		stacks = append(stacks, fmt.Sprintf(`[%d]`, i))
		samples = append(samples, fmt.Sprintf(`{"timestamp":1777629600,"thread_id":"1","stack_id":%d}`, i))
	}
	d := new(Decoder)
	c, err := d.Chunk([]byte(`{"version":"2","profile":{"frames":[` + strings.Join(frames, ",") + `],"stacks":[` + strings.Join(stacks, ",") + `],"samples":[` + strings.Join(samples, ",") + `]}}`))
	require.NoError(t, err)
	require.Equal(t, count, c.Samples.Len())
	for i, stack := range c.Samples.Stack {
		require.Len(t, c.Stacks.At(stack), 1)
		assert.Equal(t, fmt.Sprint("f", i), c.Frames[c.Stacks.At(stack)[0]].Function)
	}
	var spaced []string // read by the general path
	for i := range count {
		spaced = append(spaced, fmt.Sprint(" ", i, " "))
	}
	c, err = d.Chunk([]byte(`{"version":"2","profile":{"frames":[` + strings.Join(frames, ",") + `],"stacks":[[` + strings.Join(spaced, ",") + `]],"samples":[` + samples[0] + `]}}`))
	require.NoError(t, err)
	for i, frame := range c.Stacks.At(0) {
		assert.Equal(t, fmt.Sprint("f", i), c.Frames[frame].Function)
	}
	for index, good := range map[string]bool{"0": true, " 1 ": true, "1": true, "2": false, "01": false, "-1": false, "1.0": false, `"1"`: false, "null": false, "2147483647": false, "99999999999": false} {
		c, err := d.Chunk([]byte(`{"version":"2","profile":{"frames":[{"function":"a"},{"function":"b"}],"stacks":[[` + index + `],[0]],` +
			`"samples":[{"timestamp":1777629600,"thread_id":"1","stack_id":0},{"timestamp":1777629600,"thread_id":"1","stack_id":1}]}}`))
		if index == "01" {
			assert.Error(t, err, "no JSON")
			continue
		}
		require.NoError(t, err, index)
		assert.Equal(t, map[bool]int{true: 2, false: 1}[good], c.Samples.Len(), index)
	}
}
