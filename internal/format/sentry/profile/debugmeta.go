// SPDX-License-Identifier: Apache-2.0

package profile

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// DebugMeta lists the images that contain the code of frames: native libraries, or bundles with
// their source maps.
// https://develop.sentry.dev/sdk/data-model/event-payloads/debugmeta/
type DebugMeta struct {
	Images []Image `json:"images"`
}

// Image is one debug image. Sentry's ingest keeps type, code_file, debug_id, image_addr,
// image_vmaddr, image_size and uuid on its profile path (relay-profiling/src/debug_image.rs);
// code_id and arch are also decoded, because build IDs are derived from them.
type Image struct {
	Type      string           `json:"type"`       // macho, symbolic, sourcemap, proguard, jvm; others occur
	CodeFile  string           `json:"code_file"`  // also sent as "name"
	CodeID    string           `json:"code_id"`    // ELF: the GNU build id in hex
	DebugFile string           `json:"debug_file"` // the file with the symbols, if it is not CodeFile
	DebugID   string           `json:"debug_id"`   // also sent as "id"
	UUID      string           `json:"uuid"`       // also sent as "build_id"; proguard mappings
	Arch      string           `json:"arch"`
	Addr      jsonscan.Address `json:"image_addr"`   // load address
	VMAddr    jsonscan.Address `json:"image_vmaddr"` // preferred load address
	Size      jsonscan.Uint    `json:"image_size"`   // bytes from Addr
}
