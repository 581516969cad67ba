// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// debugMeta decodes the images of "debug_meta". It uses the scanner because native payloads list
// every loaded library: a few hundred images in each chunk.
func (d *sampledDecoder) debugMeta() (meta DebugMeta) {
	if !d.expect('{', "debug_meta") {
		return meta
	}
	d.Open('{')
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			return meta
		}
		if string(key) == "images" {
			meta.Images = d.images()
		} else {
			d.Skip()
		}
	}
}

func (d *sampledDecoder) images() (images []Image) {
	if !d.expect('[', "debug_meta.images") {
		return nil
	}
	d.Open('[')
	for n := 0; d.Element(&n); {
		if d.expect('{', "debug_meta.images") {
			image := d.image()
			if image == (Image{}) {
				continue
			}
			if len(images) == sentry.MaxImages {
				d.Stop(discard.Errorf(discard.ReasonTooManyImages, "more than %d debug images", sentry.MaxImages))
				return nil
			}
			images = push(d, images, image)
		}
	}
	return images
}

// image decodes one image. It also accepts the older names of fields.
func (d *sampledDecoder) image() (image Image) {
	d.Open('{')
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			break
		}
		switch string(key) {
		case "type":
			image.Type = d.imageText()
		case "code_file", "name":
			image.CodeFile = d.imageText()
		case "code_id":
			image.CodeID = d.imageText()
		case "debug_file":
			image.DebugFile = d.imageText()
		case "debug_id", "id":
			image.DebugID = d.imageText()
		case "uuid", "build_id":
			image.UUID = d.imageText()
		case "arch":
			image.Arch = d.imageText()
		case "image_addr":
			image.Addr = d.Address()
		case "image_vmaddr":
			image.VMAddr = d.Address()
		case "image_size":
			image.Size = d.Uint()
		default:
			d.Skip()
		}
	}
	if image.Addr.Bad || image.VMAddr.Bad || image.Size.Bad {
		d.out.addFlaw("debug_meta.images")
	}
	return image
}

func (d *sampledDecoder) imageText() string { return d.out.frameText(&d.Scanner, "debug_meta.images") }
