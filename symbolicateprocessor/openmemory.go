// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"fmt"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// openMemory is the memory of a file that is being opened for a tenant. It is a part of
// store::max_open_bytes: other files are closed for it, unless other tenants use them. One file is
// opened at a time, so the worker needs at most twice the limit.
type openMemory struct {
	files  *files
	tenant tenant.Tenant
	held   int64
}

// Acquire implements symbols.Memory.
func (m *openMemory) Acquire(bytes int64) error {
	f := m.files
	if limit := f.cfg.MaxOpenBytes; bytes > limit-m.held {
		return fmt.Errorf("needs more memory than store::max_open_bytes (%d bytes)", limit)
	}
	m.held += bytes
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.makeRoom(m.tenant, m.held, time.Now())
	return nil
}

// ShrinkTo implements symbols.Memory.
func (m *openMemory) ShrinkTo(bytes int64) { m.held = min(m.held, bytes) }
