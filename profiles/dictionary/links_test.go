// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// TestLinksGrowInSteps: a message of many profiles asks for a little room with each, and its table
// is not copied each time.
func TestLinksGrowInSteps(t *testing.T) {
	const steps = 1000
	allocations := testing.AllocsPerRun(3, func() {
		l := NewLinks(pprofile.NewProfilesDictionary())
		defer l.Release()
		for i := range steps {
			l.Grow(1)
			var id pcommon.SpanID
			binary.BigEndian.PutUint64(id[:], uint64(i+1))
			l.Index(pcommon.TraceID{1}, id)
		}
	})
	require.Less(t, allocations, 1.5*steps, "one for each link is the link")
}

// TestLinksAreFound: every link that a dictionary has already, the first one included, is found and
// not added again.
func TestLinksAreFound(t *testing.T) {
	d := pprofile.NewProfilesDictionary()
	b := NewBuilder(d)
	first, second := b.Link(pcommon.TraceID{1}, pcommon.SpanID{1}), b.Link(pcommon.TraceID{1}, pcommon.SpanID{2})
	b.Finish()
	b.Release()

	l := NewLinks(d)
	defer l.Release()
	require.Equal(t, first, l.Index(pcommon.TraceID{1}, pcommon.SpanID{1}))
	require.Equal(t, second, l.Index(pcommon.TraceID{1}, pcommon.SpanID{2}))
	require.Equal(t, LinkIndex(d.LinkTable().Len()), l.Index(pcommon.TraceID{2}, pcommon.SpanID{1}), "another trace")
}
