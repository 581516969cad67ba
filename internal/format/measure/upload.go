// SPDX-License-Identifier: Apache-2.0

package measure

import "slices"

// FileType is the type of a file that SDKs and build tools upload. Files often are of another: screenshots that are SVG.
type FileType string

// The types of attachments, and of mapping files behind them.
const (
	FileScreenshot        FileType = "screenshot"
	FileLayoutSnapshot    FileType = "layout_snapshot"      // SVG
	FileLayoutSnapshotJS  FileType = "layout_snapshot_json" // uploaded with Content-Encoding: gzip
	FileMethodTrace       FileType = "android_method_trace" // no SDK of today
	FilePerfettoTrace     FileType = "perfetto_trace"
	FileHeapDump          FileType = "heap_dump"
	FileHeapProfile       FileType = "heap_profile"
	FileProguard          FileType = "proguard"
	FileDSYM              FileType = "dsym"
	FileELFDebug          FileType = "elf_debug"
	FileJSBundle          FileType = "jsbundle"
	attachmentTypesNumber          = 7
)

// fileTypes in the order of their numbers in tokens: add at the end.
var fileTypes = []FileType{
	FileScreenshot, FileLayoutSnapshot, FileLayoutSnapshotJS, FileMethodTrace, FilePerfettoTrace, FileHeapDump, FileHeapProfile,
	FileProguard, FileDSYM, FileELFDebug, FileJSBundle,
}

// AttachmentTypes are those of events.
func AttachmentTypes() []FileType { return slices.Clone(fileTypes[:attachmentTypesNumber]) }

// index of an attachment type, -1 for all others.
func (t FileType) index() int { return slices.Index(fileTypes[:attachmentTypesNumber], t) }

// Number is that of the type in tokens; 0 for none.
func (t FileType) Number() byte { return byte(slices.Index(fileTypes, t) + 1) }

// FileTypeOf is the inverse of Number.
func FileTypeOf(number byte) (FileType, bool) {
	if number == 0 || int(number) > len(fileTypes) {
		return "", false
	}
	return fileTypes[number-1], true
}

// IsMapping says whether build tools upload it, not SDKs.
func (t FileType) IsMapping() bool { return slices.Index(fileTypes, t) >= attachmentTypesNumber }

// EventsResponse is the answer to a batch as JSON. It holds nothing but the attachments: iOS decodes all of its members as
// lists of them.
type EventsResponse struct {
	Attachments []Upload `json:"attachments"` // null for none
}

// BuildResponse is the answer to a build with mapping files.
type BuildResponse struct {
	Mappings []Upload `json:"mappings"` // in the order of the request
}

// Upload tells where to put a file.
type Upload struct {
	ID        string            `json:"id"`
	Type      FileType          `json:"type"`
	Filename  string            `json:"filename"`
	UploadURL string            `json:"upload_url"`
	ExpiresAt string            `json:"expires_at"` // ExpiryFormat
	Headers   map[string]string `json:"headers"`    // to be sent with the file; an object even if empty, for Android

	// Only in answers to over-the-air builds.
	PatchID      string `json:"patch_id,omitempty"`
	PatchVersion string `json:"patch_version,omitempty"`
}

// ExpiryFormat: iOS insists on the fraction, Android compares the text with its clock in UTC.
const ExpiryFormat = "2006-01-02T15:04:05.000Z"

// The headers that come back with uploads; scripts of React Native look for names that end so.
const (
	HeaderFilename  = "x-amz-meta-original_file_name"
	HeaderMappingID = "x-amz-meta-mapping_id"
)
