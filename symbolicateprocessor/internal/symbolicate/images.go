// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// Image is a program or library in memory, as Sentry's SDKs report it with exceptions.
type Image struct {
	ID         NativeID
	start, end uint64
	apple      bool
}

// Images returns the native images of an attribute, by address. An image without a size, as in
// events from MetricKit, ends where the next one starts, as in Sentry's symbolicator.
func Images(list pcommon.Value) (images []Image) {
	for m := range attr.Maps(list) {
		start, ok := addressOf(m, "image_addr")
		size, _ := addressOf(m, "image_size")
		image := Image{ID: NativeID{DebugID: attr.TextOf(m, "debug_id")}, start: start, end: start + size, apple: attr.TextOf(m, "type") == "macho"}
		if attr.TextOf(m, "type") == "elf" {
			image.ID.BuildID = attr.TextOf(m, "code_id")
		}
		if ok && image.end >= start && image.ID != (NativeID{}) {
			images = append(images, image)
		}
	}
	slices.SortFunc(images, func(a, b Image) int { return cmp.Compare(a.start, b.start) })
	next := uint64(math.MaxUint64)
	for i := range slices.Backward(images) {
		if images[i].end == images[i].start {
			images[i].end = next
		}
		next = images[i].start
	}
	return images
}

// addressOf returns a number that SDKs write as 0x… or in decimal.
func addressOf(m pcommon.Map, key string) (uint64, bool) {
	address, err := strconv.ParseUint(attr.TextOf(m, key), 0, 64)
	return address, err == nil
}

// ImageAt returns the image that contains an address, or nil.
func ImageAt(images []Image, address uint64) *Image {
	i, exact := slices.BinarySearchFunc(images, address, func(image Image, at uint64) int { return cmp.Compare(image.start, at) })
	if !exact {
		i--
	}
	if i < 0 || address >= images[i].end {
		return nil
	}
	return &images[i]
}

// Unresolved reports whether a frame with this name and address in the image needs a symbol file.
func (i *Image) Unresolved(name string) bool { return i.apple || isUnnamed(name) }

// Lookup returns the functions at an address in the image.
func (i *Image) Lookup(table *native.Table, address uint64, use native.Use) ([]symbols.Frame, symbols.Status) {
	return table.Lookup(nil, table.Base()+address-i.start, use)
}
