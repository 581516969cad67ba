// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
)

// memoryStorage is a storage extension. Like a disk, it outlives the tees that use it.
type memoryStorage struct {
	component.StartFunc
	component.ShutdownFunc
	mu      sync.Mutex
	values  map[string][]byte
	most    int // maximum size of all values; 0 = no limit
	batches int
	delay   time.Duration
	rate    int   // bytes per second that are written; 0 = no limit
	err     error // returned by every operation
}

func (s *memoryStorage) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return journaltest.Client{Batches: s}, nil
}

// Batch executes all operations or none, like a transaction.
func (s *memoryStorage) Batch(_ context.Context, ops ...*storage.Operation) error {
	s.mu.Lock()
	delay := s.delay
	s.mu.Unlock()
	time.Sleep(delay)
	if s.rate > 0 {
		written := 0
		for _, op := range ops {
			written += len(op.Value)
		}
		time.Sleep(time.Duration(written) * time.Second / time.Duration(s.rate))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.batches++
	changed, size := maps.Clone(s.values), 0
	for _, value := range s.values {
		size -= len(value)
	}
	before := -size
	if changed == nil {
		changed = map[string][]byte{}
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = bytes.Clone(s.values[op.Key])
		case storage.Set:
			changed[op.Key] = bytes.Clone(op.Value)
		case storage.Delete:
			delete(changed, op.Key)
		}
	}
	for _, value := range changed {
		size += len(value)
	}
	if s.most > 0 && size > 0 && before+size > s.most {
		return storage.ErrStorageFull
	}
	s.values = changed
	return nil
}

func (s *memoryStorage) Close(context.Context) error { return nil }

func (s *memoryStorage) set(change func(values map[string][]byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.values)
}
