// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// Recorder keeps a copy of the stored messages. The store calls it while it is locked: its methods
// must not block, and must not call the store.
type Recorder interface {
	Added(*Message)
	Removed(*Message)
}

// Record sets the recorder of an empty store. The IDs of its profiles will be higher than lastID.
func (s *Store) Record(r Recorder, lastID uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder, s.lastID = r, max(s.lastID, lastID)
}

// Stored is a message of an earlier run.
type Stored struct {
	Signal  Signal
	Arrived time.Time
	Tenant  tenant.Tenant
	FirstID uint64 // of its profiles
	Number  uint64 // see Message.Number
	OTLP    []byte
}

// Restore stores a message of an earlier run, as the oldest one. It returns false if the message is
// too old or too large. The message may be evicted at once.
func (s *Store) Restore(from Stored, now time.Time) (stored bool, err error) {
	if now.Sub(from.Arrived) > s.maxAge {
		return false, nil
	}
	m := &Message{Signal: from.Signal, Arrived: from.Arrived, Number: from.Number, Tenant: from.Tenant, otlp: from.OTLP}
	if err := m.summarize(); err != nil || m.empty() {
		return false, err
	}
	return s.insert(m, from.FirstID), nil
}

// summarize reads the content of an encoded message.
func (m *Message) summarize() error {
	switch m.Signal {
	case Profiles:
		profiles, err := m.DecodeProfiles()
		if err != nil {
			return err
		}
		m.summarizeProfiles(profiles)
	case Traces:
		traces, err := m.DecodeTraces()
		if err != nil {
			return err
		}
		m.summarizeTraces(traces)
	case Logs:
		logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(m.otlp)
		if err != nil {
			return decodeError(err)
		}
		m.summarizeLogs(logs)
	case Metrics:
		metrics, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(m.otlp)
		if err != nil {
			return decodeError(err)
		}
		m.summarizeMetrics(metrics)
	default:
		return fmt.Errorf("signal %q is unknown", m.Signal)
	}
	return nil
}
