// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Positions in the seven tables. Each table has its own type, so that a function cannot be stored
// where a location belongs. Zero means "none" in all of them.
type (
	// Positions in the seven tables. Each table has its own type, so that a function cannot be
	// stored in place of a location. Zero means "none" in all of them.
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
// It keeps the order. The keys must differ.
func SetAttributes(list pcommon.Int32Slice, attributes ...AttributeIndex) {
	list.FromRaw(rawIndices(attributes))
}

// SetValueType fills the sample type or the period type of a profile.
func SetValueType(v pprofile.ValueType, typ, unit StringIndex) {
	v.SetTypeStrindex(int32(typ))
	v.SetUnitStrindex(int32(unit))
}

// rawIndices converts typed indices to the []int32 that pdata expects, without a copy. This is safe
// because the underlying type is int32, and pdata copies its argument.
func rawIndices[I ~int32](indices []I) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(indices))), len(indices))
}

// indexBytes returns the memory of indices. It is only for hashing, where the byte order does not
// matter.
func indexBytes[I ~int32](indices []I) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(indices))), 4*len(indices))
}
