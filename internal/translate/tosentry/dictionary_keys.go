// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// attributeKind is the meaning of an entry of the attribute table for a sample, frame or mapping.
type attributeKind uint8

const (
	attributeOther attributeKind = iota
	attributeThreadID
	attributeThreadName
	attributeThreadPriority
	attributeFrameType
	attributeFrameModule
	attributeFramePackage
	attributeFramePlatform
	attributeFrameInApp
	attributeFrameFilename
	attributeFrameAbsPath
	attributeFrameAddress
	attributeSymbolication
	attributeRawFunction
	attributeRawModule
	attributeRawFile
	attributeRawLine
	attributeRawColumn
	attributeBuildIDGNU
	attributeDebugID
	attributeImageType
	attributeImageCodeID
	attributeImageDebug
	attributeImageUUID
	attributeImageArch
	attributeImageVMAddr
)

// attributeKinds are the kinds of the keys that fromsentry and the processor symbolicate write.
var attributeKinds = map[string]attributeKind{
	semconv.ThreadID:                    attributeThreadID,
	semconv.ThreadName:                  attributeThreadName,
	semconv.SentryThreadPriority:        attributeThreadPriority,
	semconv.ProfileFrameType:            attributeFrameType,
	semconv.SentryFrameModule:           attributeFrameModule,
	semconv.SentryFramePackage:          attributeFramePackage,
	semconv.SentryFramePlatform:         attributeFramePlatform,
	semconv.SentryFrameInApp:            attributeFrameInApp,
	semconv.SentryFrameFilename:         attributeFrameFilename,
	semconv.SentryFrameAbsPath:          attributeFrameAbsPath,
	semconv.SentryFrameInstructionAddr:  attributeFrameAddress,
	semconv.SymbolicationStatus:         attributeSymbolication,
	semconv.SentryFrameRawFunction:      attributeRawFunction,
	semconv.SentryFrameRawModule:        attributeRawModule,
	semconv.SentryFrameRawFile:          attributeRawFile,
	semconv.SentryFrameRawLine:          attributeRawLine,
	semconv.SentryFrameRawColumn:        attributeRawColumn,
	semconv.ProcessExecutableBuildIDGNU: attributeBuildIDGNU,
	semconv.SentryDebugID:               attributeDebugID,
	semconv.SentryImageType:             attributeImageType,
	semconv.SentryImageCodeID:           attributeImageCodeID,
	semconv.SentryImageDebugFile:        attributeImageDebug,
	semconv.SentryImageUUID:             attributeImageUUID,
	semconv.SentryImageArch:             attributeImageArch,
	semconv.SentryImageVMAddr:           attributeImageVMAddr,
}

// maxKindKey is the length of the longest key.
var maxKindKey = func() (longest int) {
	for key := range attributeKinds {
		longest = max(longest, len(key))
	}
	return longest
}()

// keyTable stores the kind of every entry of the attribute table, so that each entry is looked up
// only once, not per sample or frame.
type keyTable struct {
	table pprofile.KeyValueAndUnitSlice
	kinds []attributeKind
	texts map[int32]string // of entries with long texts or other types: many samples and frames may refer to one
}

// readKeys reuses the memory of kinds.
func readKeys(view dictionary.View, d pprofile.ProfilesDictionary, kinds []attributeKind) keyTable {
	n := d.AttributeTable().Len()
	t := keyTable{table: d.AttributeTable(), kinds: slices.Grow(kinds[:0], n)[:n], texts: map[int32]string{}}
	clear(t.kinds)
	for i := 1; i < n; i++ {
		key, ok := view.String(dictionary.StringIndex(t.table.At(i).KeyStrindex()))
		if ok && len(key) <= maxKindKey { // any number of attributes may refer to a long key
			t.kinds[i] = attributeKinds[key]
		}
	}
	return t
}

// kind returns attributeOther for entry 0 and for indices outside the table.
func (t *keyTable) kind(index int32) attributeKind {
	if index <= 0 || int(index) >= len(t.kinds) {
		return attributeOther
	}
	return t.kinds[index]
}

func (t *keyTable) value(index int32) pcommon.Value { return t.table.At(int(index)).Value() }

// text returns the value of an entry as text; numbers are decimal.
func (t *keyTable) text(index int32) string {
	value := t.value(index)
	if value.Type() == pcommon.ValueTypeStr && len(value.Str()) <= attr.MaxFrameText {
		return value.Str()
	}
	text, known := t.texts[index]
	if !known {
		text = attr.Clip(value.AsString(), attr.MaxFrameText)
		t.texts[index] = text
	}
	return text
}
