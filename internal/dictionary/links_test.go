package dictionary

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// TestLinksGrowInSteps: a message of many profiles asks for a little room with each, and its table is not copied each time.
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
