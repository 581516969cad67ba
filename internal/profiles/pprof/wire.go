// SPDX-License-Identifier: Apache-2.0

package pprof

import "encoding/binary"

// Fields of profile.proto.
const (
	profileSampleType        = 1
	profileSample            = 2
	profileMapping           = 3
	profileLocation          = 4
	profileFunction          = 5
	profileString            = 6
	profileTimeNanos         = 9
	profileDurationNanos     = 10
	profilePeriodType        = 11
	profilePeriod            = 12
	profileComment           = 13
	profileDefaultSampleType = 14

	valueTypeType = 1
	valueTypeUnit = 2

	sampleLocationIDs = 1
	sampleValues      = 2
	sampleLabel       = 3

	labelKey    = 1
	labelText   = 2
	labelNumber = 3
	labelUnit   = 4

	entryID = 1 // of mappings, locations and functions

	mappingStart        = 2
	mappingLimit        = 3
	mappingOffset       = 4
	mappingFilename     = 5
	mappingBuildID      = 6
	mappingHasFunctions = 7

	locationMapping = 2
	locationAddress = 3
	locationLine    = 4

	lineFunction = 1
	lineLine     = 2
	lineColumn   = 3

	functionName       = 2
	functionSystemName = 3
	functionFilename   = 4
	functionStartLine  = 5
)

const (
	wireVarint = 0
	wireBytes  = 2
)

func appendVarint(to []byte, n uint64) []byte { return binary.AppendUvarint(to, n) }

// appendNumber appends a field. Like Protocol Buffers, it omits zero.
func appendNumber(to []byte, field int, n uint64) []byte {
	if n == 0 {
		return to
	}
	return appendVarint(appendVarint(to, uint64(field<<3|wireVarint)), n)
}

func appendBytes(to []byte, field int, content []byte) []byte {
	to = appendVarint(appendVarint(to, uint64(field<<3|wireBytes)), uint64(len(content)))
	return append(to, content...)
}
