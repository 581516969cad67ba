// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
)

// TestAnnounced: an app that announces more files than are remembered loses its own oldest, and
// names are not kept at any length.
func TestAnnounced(t *testing.T) {
	key := func(app byte, n int) dedup.ID {
		k := dedup.ID{Tenant: string(rune(app))}
		binary.BigEndian.PutUint64(k.Value[:], uint64(n))
		return k
	}
	m := newAnnounced()
	name := strings.Repeat("x", maxAnnouncedName-1) + "€" + strings.Repeat("x", 1<<20)
	m.put(key(1, 0), announced{name: name})
	for i := range 2 * maxAnnounced {
		m.put(key(2, i), announced{nano: uint64(i)})
	}
	small, known := m.get(key(1, 0))
	assert.True(t, known, "of the small app")
	assert.Equal(t, name[:maxAnnouncedName-1], small.name)
	_, known = m.get(key(2, maxAnnounced))
	assert.False(t, known, "the oldest of the large app")
	newest, known := m.get(key(2, 2*maxAnnounced-1))
	assert.True(t, known)
	assert.EqualValues(t, 2*maxAnnounced-1, newest.nano)
	assert.Len(t, m.all, maxAnnounced)
	assert.Equal(t, maxAnnounced, m.queue.Len())
	m.put(key(1, 0), announced{nano: 7})
	small, _ = m.get(key(1, 0))
	assert.EqualValues(t, 7, small.nano, "the last one counts")
	_, known = m.get(dedup.ID{Value: [24]byte{1}})
	assert.False(t, known)
}
