// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// images returns the debug images of a profile: the mappings to which its frames refer, then images
// that were never mappings. Ingest rejects profiles with an image of an unknown type or with an
// invalid ID, so such images are repaired or dropped.
func (r *frameReader) images(profile pprofile.Profile, e *Export) (images []sentryprofile.Image) {
	known, size := map[imageKey]int{}, 0
	keep := func(image sentryprofile.Image) {
		repaired, ok := sentryprofile.RepairImage(image)
		if !ok {
			e.Flaw("image", 1)
			return
		}
		if key := (imageKey{repaired.DebugID, repaired.Addr}); key.isUnique() {
			if i, again := known[key]; again {
				images[i].Size.Value = max(images[i].Size.Value, repaired.Size.Value)
				return
			}
			known[key] = len(images)
		}
		if size += textOfImage(&repaired); size > maxImageText || len(images) == sentry.MaxImages {
			delete(known, imageKey{repaired.DebugID, repaired.Addr})
			e.Flaw("image", 1)
			return
		}
		images = append(images, repaired)
	}
	for _, index := range r.mappings {
		if image, ok := r.image(index); ok {
			keep(image)
		}
	}
	if value, ok := r.view.Get(profile.AttributeIndices(), semconv.SentryDebugMetaImages); ok && value.Type() == pcommon.ValueTypeSlice {
		for i, entry := range value.Slice().All() {
			if i == sentry.MaxImages {
				e.Flaw("image", value.Slice().Len()-i)
				break
			}
			if entry.Type() == pcommon.ValueTypeMap {
				keep(readImage(entry.Map()))
			}
		}
	}
	e.Flaw("dictionary_reference", r.broken)
	return images
}

// maxImageText bounds the texts of all images of a profile, which each of its chunks repeats:
// 20,000 images of 200 bytes.
const maxImageText = 4 << 20

func textOfImage(image *sentryprofile.Image) (size int) {
	for _, text := range attr.ImageTexts {
		size += len(*text.Of(image))
	}
	return size
}

// imageKey is equal for the segments of one file: separate mappings, but one image.
type imageKey struct {
	debugID string
	addr    jsonscan.Address
}

func (k imageKey) isUnique() bool { return k.debugID != "" && k.addr.Set }

// image is the inverse of fromsentry.imageMap.translate, for mappings of any origin. ok is false if
// the mapping has no ID that symbol servers know; Go's build ID is an example.
func (r *frameReader) image(index dictionary.MappingIndex) (image sentryprofile.Image, ok bool) {
	r.view.Mapping(index, &r.mapping)
	m := &r.mapping
	image.CodeFile = r.text(m.Filename)
	buildID := ""
	for _, index := range m.Attributes {
		index := int32(index)
		switch key := r.keys.key(index); key {
		case "":
		case semconv.ProcessExecutableBuildIDGNU:
			buildID = r.keys.text(index)
		case semconv.SentryImageVMAddr:
			image.VMAddr = parseAddress(r.keys.text(index))
		default:
			for _, text := range attr.ImageTexts {
				if text.Key == key {
					*text.Of(&image) = r.keys.text(index)
				}
			}
		}
	}
	if buildID == image.BuildID() {
		buildID = "" // it is derived from the debug ID
	}
	image.CodeID = attr.FirstText(buildID, image.CodeID)
	if buildID != "" && image.Type == "" {
		image.Type = "elf"
	}

	// The image begins at the address of file offset 0; the mapping is the segment at FileOffset.
	begin := m.Start
	if m.FileOffset <= begin {
		begin -= m.FileOffset
	}
	image.Addr = jsonscan.Address{Value: begin, Set: true}
	if m.Limit > begin {
		image.Size = jsonscan.Uint{Value: m.Limit - begin, Set: true}
	}
	return image, image.DebugID != "" || image.UUID != "" || buildID != ""
}

// readImage is the inverse of fromsentry.attributeList.images.
func readImage(m pcommon.Map) sentryprofile.Image {
	image := sentryprofile.Image{Addr: parseAddress(attr.TextOf(m, "image_addr")), VMAddr: parseAddress(attr.TextOf(m, "image_vmaddr"))}
	for _, text := range attr.ImageTexts {
		*text.Of(&image) = attr.TextOf(m, text.Member)
	}
	if size, err := strconv.ParseUint(attr.TextOf(m, "image_size"), 10, 64); err == nil {
		image.Size = jsonscan.Uint{Value: size, Set: true}
	}
	return image
}

func parseAddress(text string) jsonscan.Address {
	value, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return jsonscan.Address{Value: value, Set: err == nil}
}
