// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Positions in the seven tables. Each table has its own type, so that a
// function cannot be stored where a location belongs. Zero means "none" in
// all of them.
type (
	StringIndex    int32
	AttributeIndex int32
	FunctionIndex  int32
	MappingIndex   int32
	LocationIndex  int32
	LinkIndex      int32
	StackIndex     int32
)

// SetAttributes replaces the attribute list of a record, for example
//
//	dictionary.SetAttributes(sample.AttributeIndices(), threadID, threadName)
//
// The order is kept. The keys must differ; [Check] reports when they do not.
func SetAttributes(list pcommon.Int32Slice, attributes ...AttributeIndex) {
	list.FromRaw(rawIndices(attributes))
}

// SetValueType fills the sample type or the period type of a profile.
func SetValueType(v pprofile.ValueType, typ, unit StringIndex) {
	v.SetTypeStrindex(int32(typ))
	v.SetUnitStrindex(int32(unit))
}

// rawIndices shows typed indices as the int32 that pdata takes, without a
// copy. The element types have int32 as their underlying type, so the memory
// is the same; pdata copies what it is given and keeps no reference.
func rawIndices[I ~int32](indices []I) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(indices))), len(indices))
}

// indexBytes shows indices as bytes, for hashing only: the byte order is the
// machine's, which does not matter inside one process.
func indexBytes[I ~int32](indices []I) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(indices))), 4*len(indices))
}
