// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// formatVersion is the first byte of a stored message. Messages of version 1 have no tenant.
const formatVersion = 2

// signals are stored as their position in this list.
var signals = []store.Signal{store.Profiles, store.Traces, store.Logs, store.Metrics}

// headSize is the size of the part before the message: version, signal, time of arrival, ID of the
// first profile. Then follow the length of the tenant, and the tenant.
const headSize = 1 + 1 + 8 + 8

// encode returns the stored form of a message.
func encode(m *store.Message) []byte {
	from := m.Tenant.String()
	value := make([]byte, 0, headSize+binary.MaxVarintLen64+len(from)+m.EncodedSize()+4)
	value = append(value, formatVersion, byte(slices.Index(signals, m.Signal)))
	value = binary.BigEndian.AppendUint64(value, uint64(m.Arrived.UnixNano()))
	value = binary.BigEndian.AppendUint64(value, m.FirstID())
	value = append(binary.AppendUvarint(value, uint64(len(from))), from...)
	return collector.AppendChecksum(m.AppendOTLP(value))
}

// decode is the inverse of encode.
func decode(stored []byte) (m store.Stored, err error) {
	value, err := collector.VerifyChecksum(stored)
	switch {
	case err != nil:
		return m, err
	case len(value) < headSize || int(value[1]) >= len(signals):
		return m, errors.New("is not a message")
	case value[0] == 0 || value[0] > formatVersion:
		return m, fmt.Errorf("has format %d, this collector reads formats up to %d", value[0], formatVersion)
	}
	m = store.Stored{
		Signal:  signals[value[1]],
		Arrived: time.Unix(0, int64(binary.BigEndian.Uint64(value[2:]))),
		FirstID: binary.BigEndian.Uint64(value[10:]),
		OTLP:    value[headSize:],
	}
	if value[0] > 1 {
		length, n := binary.Uvarint(m.OTLP)
		if n <= 0 || length > uint64(len(m.OTLP)-n) {
			return m, errors.New("is not a message")
		}
		m.Tenant = tenant.Parse(string(m.OTLP[n : n+int(length)]))
		m.OTLP = m.OTLP[n+int(length):]
	}
	return m, nil
}
