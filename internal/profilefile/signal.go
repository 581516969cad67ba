// SPDX-License-Identifier: Apache-2.0

package profilefile

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/otlpsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

type signal int

const (
	signalProfiles signal = iota
	signalTraces
	signalLogs
	signalMetrics
)

// signalOf returns the signal of a message, which the first record with evidence determines. Other
// messages are profiles: their reader names the version of an older producer.
func signalOf(message []byte) signal {
	if otlpsize.HasDictionary(message) {
		return signalProfiles
	}
	for resource := range wire.Within(message, 1) {
		for _, scopes := range []protowire.Number{2, libraries} {
			for scope := range wire.Within(resource, scopes) {
				for record := range wire.Within(scope, 2) {
					if found := signalOfRecord(record); found != signalProfiles {
						return found
					}
				}
			}
		}
	}
	return signalProfiles
}

// libraries is the number of the field that became scopes. pdata still reads it.
const libraries = 1000

// signalOfRecord distinguishes records by the types of their fields:
//
//	field    span      log record   metric   profile
//	1        bytes     fixed64      bytes    bytes
//	2        bytes     varint       bytes    bytes
//	3        bytes     bytes        bytes    fixed64, bytes
//	4        bytes                           varint, fixed64, bytes
//	5        bytes     bytes        bytes    bytes, varint
//	6        varint    bytes                 varint, bytes
//	7        fixed64   varint       bytes    bytes, varint
//	8        fixed64   fixed32               varint, bytes
//	9, 10    any       bytes        bytes    any
//	11       bytes     fixed64      bytes    bytes
func signalOfRecord(record []byte) signal {
	span, log, profile, metric, named, data, content := false, false, false, true, false, false, false
	for field := range wire.Fields(record) {
		number, kind := field.Number, field.Kind
		isMetric := kind == protowire.BytesType && number != 4 && number != 6 && number != 8 && number <= 12
		metric = metric && isMetric
		data = data || isMetric && (number == 5 || number == 7 || number >= 9 && number <= 11)
		switch number {
		case 1:
			named, log = true, log || kind == protowire.Fixed64Type
		case 11:
			log = log || kind == protowire.Fixed64Type
		case 2:
			log = log || kind == protowire.VarintType
		case 3, 4:
			profile = profile || kind != protowire.BytesType
		case 5:
			content, profile = true, profile || kind == protowire.VarintType
		case 6:
			content, span = true, span || kind == protowire.VarintType
		case 7, 8:
			span = span || kind == protowire.Fixed64Type
			log = log || kind == protowire.Fixed32Type
		}
	}
	switch {
	case profile:
		return signalProfiles
	case log:
		return signalLogs
	case span:
		return signalTraces
	case metric && named && data:
		return signalMetrics
	case content && !named:
		return signalLogs // without a time
	}
	return signalProfiles
}
