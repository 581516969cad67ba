// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// signals are stored as their position in this list.
var signals = []store.Signal{store.Profiles, store.Traces, store.Logs, store.Metrics}

// headSize is the size of the head without the tenant: signal, time of arrival, ID of the first
// profile.
const headSize = 1 + 8 + 8

// recordOf returns the stored form of a message.
func recordOf(m *store.Message) journal.Record {
	head := []byte{byte(slices.Index(signals, m.Signal))}
	head = binary.BigEndian.AppendUint64(head, uint64(m.Arrived.UnixNano()))
	head = binary.BigEndian.AppendUint64(head, m.FirstID())
	return journal.Record{Head: append(head, m.Tenant.String()...), Body: m.OTLP()}
}

// messageOf is the inverse of recordOf.
func messageOf(record journal.Record) (m store.Stored, err error) {
	head := record.Head
	if len(head) < headSize || int(head[0]) >= len(signals) {
		return m, errNoMessage
	}
	return store.Stored{
		Signal:  signals[head[0]],
		Arrived: time.Unix(0, int64(binary.BigEndian.Uint64(head[1:]))),
		FirstID: binary.BigEndian.Uint64(head[9:]),
		Tenant:  tenant.Parse(string(head[headSize:])),
		OTLP:    record.Body,
	}, nil
}

// upgrade reads version 2, in which the length of the tenant was in front of it, and the message
// behind it.
func upgrade(version byte, value []byte) (r journal.Record, err error) {
	if version != 2 || len(value) < headSize {
		return r, errNoMessage
	}
	length, n := binary.Uvarint(value[headSize:])
	from := value[headSize+max(n, 0):]
	if n <= 0 || length > uint64(len(from)) {
		return r, errNoMessage
	}
	return journal.Record{Head: append(value[:headSize:headSize], from[:length]...), Body: from[length:]}, nil
}
