// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
)

// changesAnswer is an event of the stream of changes. It states which lists have changed, not their
// content.
type changesAnswer struct {
	Run string `json:"run"` // ID that changes when the viewer restarts
	// Lists has a version number for each list: one per signal, and one for notices. Empty lists
	// may be absent.
	Lists map[string]uint64 `json:"lists"`
}

func (v *viewer) changes() *stream {
	return &stream{
		changed: func() (a, b <-chan struct{}) { return v.store.Changed(), notices.Shared.Changed() },
		current: v.currentChanges,
		end:     v.end,
	}
}

func (v *viewer) currentChanges() []byte {
	answer := changesAnswer{
		Run:   strconv.FormatInt(v.created.UnixNano(), 10),
		Lists: map[string]uint64{"notices": uint64(notices.Shared.Version())},
	}
	for signal, version := range v.store.Versions() {
		answer.Lists[string(signal)] = version
	}
	event, _ := json.Marshal(answer) // cannot fail: texts and numbers
	return event
}

// clear empties the store, its copy in the storage, and the caches.
func (v *viewer) clear(*http.Request) (any, error) {
	if v.history != nil {
		v.history.Discard()
	}
	v.store.Clear()
	v.graphs, v.decoded = graphs{}, decoded{}
	return struct{}{}, nil
}
