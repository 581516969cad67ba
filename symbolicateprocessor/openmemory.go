// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"fmt"
)

// openMemory is the memory of a file that is being opened. It is a part of store::max_open_bytes:
// other files are closed for it.
type openMemory struct {
	files *files
	ctx   context.Context // of the metrics
	held  int64
}

// Acquire implements symbols.Memory.
func (m *openMemory) Acquire(bytes int64) error {
	f := m.files
	if limit := f.cfg.MaxOpenBytes; bytes > limit-m.held {
		return fmt.Errorf("needs more memory than store::max_open_bytes, %d bytes", limit)
	}
	m.held += bytes
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes > 0 && f.bytes > f.cfg.MaxOpenBytes-m.held {
		f.close(m.ctx, f.recent.Back())
	}
	return nil
}

// ShrinkTo implements symbols.Memory.
func (m *openMemory) ShrinkTo(bytes int64) { m.held = min(m.held, bytes) }
