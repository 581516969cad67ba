// SPDX-License-Identifier: Apache-2.0

package measure

import "slices"

// FileType is the type of a file that SDKs and build tools upload. The content often has another
// type: some screenshots are SVG.
type FileType string

// Types of attachments, followed by types of mapping files.
const (
	FileScreenshot        FileType = "screenshot"
	FileLayoutSnapshot    FileType = "layout_snapshot"      // SVG
	FileLayoutSnapshotJS  FileType = "layout_snapshot_json" // uploaded with Content-Encoding: gzip
	FileMethodTrace       FileType = "android_method_trace" // not sent by current SDKs
	FilePerfettoTrace     FileType = "perfetto_trace"
	FileHeapDump          FileType = "heap_dump"
	FileHeapProfile       FileType = "heap_profile"
	FileProguard          FileType = "proguard"
	FileDSYM              FileType = "dsym"
	FileELFDebug          FileType = "elf_debug"
	FileJSBundle          FileType = "jsbundle"
	attachmentTypesNumber          = 7
)

// fileTypes lists the types in the order of their numbers in tokens. Add new ones at the end.
var fileTypes = []FileType{
	FileScreenshot, FileLayoutSnapshot, FileLayoutSnapshotJS, FileMethodTrace, FilePerfettoTrace, FileHeapDump, FileHeapProfile,
	FileProguard, FileDSYM, FileELFDebug, FileJSBundle,
}

// AttachmentTypes returns the types of attachments of events.
func AttachmentTypes() []FileType { return slices.Clone(fileTypes[:attachmentTypesNumber]) }

// index returns the index of an attachment type, -1 for all other types.
func (t FileType) index() int { return slices.Index(fileTypes[:attachmentTypesNumber], t) }

// Number returns the number of the type in tokens, 0 for an unknown type.
func (t FileType) Number() byte { return byte(slices.Index(fileTypes, t) + 1) }

// FileTypeOf is the inverse of Number.
func FileTypeOf(number byte) (FileType, bool) {
	if number == 0 || int(number) > len(fileTypes) {
		return "", false
	}
	return fileTypes[number-1], true
}

// IsMapping reports whether build tools upload files of the type, rather than SDKs.
func (t FileType) IsMapping() bool { return slices.Index(fileTypes, t) >= attachmentTypesNumber }

// EventsResponse is the JSON response to a batch. It has no members other than attachments, because
// iOS decodes every member as a list of these.
type EventsResponse struct {
	Attachments []Upload `json:"attachments"` // null for none
}

// BuildResponse is the response to a build with mapping files.
type BuildResponse struct {
	Mappings []Upload `json:"mappings"` // in the order of the request
}

// Upload is the address for the upload of a file.
type Upload struct {
	ID        string            `json:"id"`
	Type      FileType          `json:"type"`
	Filename  string            `json:"filename"`
	UploadURL string            `json:"upload_url"`
	ExpiresAt string            `json:"expires_at"` // ExpiryFormat
	Headers   map[string]string `json:"headers"`    // headers for the upload; Android requires an object, even if empty

	// Only in responses to over-the-air builds.
	PatchID      string `json:"patch_id,omitempty"`
	PatchVersion string `json:"patch_version,omitempty"`
}

// ExpiryFormat is the format of ExpiresAt: iOS requires the fraction, and Android compares the text
// with its clock in UTC.
const ExpiryFormat = "2006-01-02T15:04:05.000Z"

// Headers that clients send back with uploads. Scripts of React Native search for these name
// endings.
const (
	HeaderFilename  = "x-amz-meta-original_file_name"
	HeaderMappingID = "x-amz-meta-mapping_id"
)
