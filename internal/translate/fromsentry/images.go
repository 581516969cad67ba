// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// imageMap finds the debug image of an address and translates it to a mapping. An attribute of the
// profile keeps images without frames or without an address range.
type imageMap struct {
	b      *dictionary.Builder
	images []profile.Image
	ranges []imageRange // images that can become a mapping, by start
	mapped []bool       // by image
}

type imageRange struct {
	start, limit uint64
	image        int
	mapping      dictionary.MappingIndex // 0 = not translated yet
}

func newImageMap(b *dictionary.Builder, images []profile.Image) *imageMap {
	m := &imageMap{b: b, images: images, mapped: make([]bool, len(images))}
	for i := range images {
		image := &images[i]
		start, limit := image.Addr.Value, image.Addr.Value+image.Size.Value
		if image.Addr.Set && limit > start && buildID(image) != "" { // mappings require one
			m.ranges = append(m.ranges, imageRange{start: start, limit: limit, image: i})
		}
	}
	slices.SortStableFunc(m.ranges, func(a, b imageRange) int { return cmp.Compare(a.start, b.start) })
	return m
}

// buildID returns the process.executable.build_id.gnu of an image, or "" if it has no usable ID.
//
// A mapping must have one of three IDs (specification/profiles/mappings.md). "go" exists only in Go
// programs, and "htlhash" is computed from the file, which the receiver does not have. The third
// one is the linker's. The conventions describe it for ELF; Mach-O, PE and WebAssembly have no
// attribute of their own. OTLP tools write pprof's Mapping.build_id to it, which also contains
// their IDs.
func buildID(image *profile.Image) string {
	if image.Type == "elf" && image.CodeID != "" {
		return image.CodeID
	}
	return image.BuildID()
}

// pointerMask is Sentry's mask for addresses on Apple's 64-bit ARM: the upper bits contain the
// pointer authentication code (relay-profiling, "strip_pointer_authentication_code").
const pointerMask = 0x0000000FFFFFFFFF

// find returns the mapping of an address, or 0 if no image contains it, and the address without its
// pointer authentication code. Addresses inside an image have no such code: simulators on x86 use
// addresses beyond the mask.
func (m *imageMap) find(address uint64, tagged bool) (dictionary.MappingIndex, uint64) {
	if mapping := m.mapping(address); mapping != 0 || !tagged {
		return mapping, address
	}
	return m.mapping(address & pointerMask), address & pointerMask
}

func (m *imageMap) mapping(address uint64) dictionary.MappingIndex {
	after := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].start > address })
	if after == 0 || address >= m.ranges[after-1].limit {
		return 0
	}
	r := &m.ranges[after-1]
	if r.mapping == 0 {
		r.mapping = m.translate(r)
	}
	return r.mapping
}

func (m *imageMap) translate(r *imageRange) dictionary.MappingIndex {
	m.mapped[r.image] = true
	image := &m.images[r.image]
	list := attributeList{b: m.b}
	list.text(semconv.SentryDebugID, image.DebugID)
	id := buildID(image)
	list.text(semconv.ProcessExecutableBuildIDGNU, id)
	if id != image.CodeID || id == image.BuildID() { // otherwise, it is a code ID
		list.text(semconv.SentryImageCodeID, image.CodeID)
	}
	list.text(semconv.SentryImageType, image.Type)
	list.text(semconv.SentryImageDebugFile, image.DebugFile)
	list.text(semconv.SentryImageUUID, image.UUID)
	list.text(semconv.SentryImageArch, image.Arch)
	if image.VMAddr.Set {
		list.text(semconv.SentryImageVMAddr, attr.AddressText(image.VMAddr.Value))
	}
	return m.b.Mapping(dictionary.Mapping{
		Start: r.start, Limit: r.limit, Filename: m.b.String(image.CodeFile), Attributes: list.indices,
	})
}

// unmapped returns the images without a mapping, in the order of the payload.
func (m *imageMap) unmapped() []profile.Image {
	rest := make([]profile.Image, 0, len(m.images))
	for i, image := range m.images {
		if !m.mapped[i] {
			rest = append(rest, image)
		}
	}
	return rest
}

// imageFields is the number of fields that a native image usually has.
const imageFields = 6

// images adds images as a list of maps with Sentry's keys.
func (l *attributeList) images(images []profile.Image) {
	if len(images) == 0 {
		return
	}
	list := pcommon.NewValueSlice()
	list.Slice().EnsureCapacity(len(images))
	for i := range images {
		image := &images[i]
		entry := list.Slice().AppendEmpty().SetEmptyMap()
		entry.EnsureCapacity(imageFields)
		for _, text := range attr.ImageTexts {
			l.putText(entry, text.Member, *attr.ImageText(image, text.Member))
		}
		l.putAddress(entry, "image_addr", image.Addr)
		l.putAddress(entry, "image_vmaddr", image.VMAddr)
		putUint(entry, "image_size", image.Size)
	}
	l.add(semconv.SentryDebugMetaImages, dictionary.MovedValue(list), "")
}

func putUint(m pcommon.Map, key string, u jsonscan.Uint) {
	switch {
	case !u.Set:
	case u.Value <= math.MaxInt64:
		m.PutInt(key, int64(u.Value))
	default:
		m.PutStr(key, strconv.FormatUint(u.Value, 10))
	}
}

func (l *attributeList) putText(m pcommon.Map, key, text string) {
	if text != "" {
		m.PutStr(key, l.b.Copy(text))
	}
}

func (l *attributeList) putAddress(m pcommon.Map, key string, address jsonscan.Address) {
	if address.Set {
		l.putText(m, key, attr.AddressText(address.Value))
	}
}
