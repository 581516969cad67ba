// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"strings"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

const (
	// maxAnnounced is the maximum number of announced files whose event attributes are stored.
	// Further files have only their ticket.
	maxAnnounced = 10_000

	// maxAnnouncedName is the maximum stored length of a name. The rules for attributes limit the
	// other values.
	maxAnnouncedName = 256
)

// announcedMap holds the attributes of events whose files may arrive hours or days later. Apps
// share it fairly.
type announcedMap struct {
	mu    sync.Mutex
	all   map[dedup.ID]*fairshare.Entry[string, announcedFile]
	queue fairshare.Queue[string, announcedFile]
}

type announcedFile struct {
	id dedup.ID
	announced
}

type announced struct {
	attributes measure.Attributes
	nano       uint64
	name       string
}

func newAnnounced() *announcedMap {
	return &announcedMap{all: map[dedup.ID]*fairshare.Entry[string, announcedFile]{}}
}

func (m *announcedMap) put(id dedup.ID, a announced) {
	if len(a.name) > maxAnnouncedName {
		a.name = strings.Clone(strings.ToValidUTF8(a.name[:maxAnnouncedName], ""))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if entry, known := m.all[id]; known {
		entry.Value.announced = a
		return
	}
	m.all[id] = m.queue.Push(id.Tenant, announcedFile{id, a}, 1)
	if m.queue.Len() > maxAnnounced {
		oldest := m.queue.LargestOldest()
		delete(m.all, oldest.Value.id)
		m.queue.Remove(oldest)
	}
}

func (m *announcedMap) get(id dedup.ID) (announced, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, known := m.all[id]
	if !known {
		return announced{}, false
	}
	return entry.Value.announced, true
}
