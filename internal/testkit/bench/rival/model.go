// SPDX-License-Identifier: Apache-2.0

// Package rival decodes profiles without a custom scanner: structs with tags, a general JSON
// library, and a conversion to the columns that the translation reads. The structs have the same
// fields that the product decodes.
package rival

// Chunk is the payload of an item "profile_chunk".
type Chunk struct {
	Version     string    `json:"version"`
	ProfilerID  string    `json:"profiler_id"`
	ChunkID     string    `json:"chunk_id"`
	Platform    string    `json:"platform"`
	Release     string    `json:"release"`
	Environment string    `json:"environment"`
	ClientSDK   SDK       `json:"client_sdk"`
	DebugMeta   DebugMeta `json:"debug_meta"`
	Profile     struct {
		Data
		Samples []ChunkSample `json:"samples"`
	} `json:"profile"`
}

// ChunkSample has a double as its time, as in Sentry's own service, which is up to 120 ns off.
type ChunkSample struct {
	Timestamp float64 `json:"timestamp"`
	ThreadID  string  `json:"thread_id"`
	StackID   int     `json:"stack_id"`
}

// Profile is the payload of an item "profile".
type Profile struct {
	Version     string      `json:"version"`
	EventID     string      `json:"event_id"`
	Platform    string      `json:"platform"`
	Timestamp   string      `json:"timestamp"`
	Release     string      `json:"release"`
	Environment string      `json:"environment"`
	Device      Device      `json:"device"`
	OS          OS          `json:"os"`
	Runtime     Runtime     `json:"runtime"`
	DebugMeta   DebugMeta   `json:"debug_meta"`
	Transaction Transaction `json:"transaction"`
	Profile     struct {
		Data
		Samples []ProfileSample `json:"samples"`
	} `json:"profile"`
}

// ProfileSample accepts times only as text, which the Node SDK sends.
type ProfileSample struct {
	Elapsed  uint64 `json:"elapsed_since_start_ns,string"`
	ThreadID string `json:"thread_id"`
	StackID  int    `json:"stack_id"`
}

// Data has the fields that Chunk and Profile share.
type Data struct {
	Stacks         [][]int                   `json:"stacks"`
	Frames         []Frame                   `json:"frames"`
	ThreadMetadata map[string]ThreadMetadata `json:"thread_metadata"`
}

type Frame struct {
	Function        string `json:"function"`
	Module          string `json:"module"`
	Filename        string `json:"filename"`
	AbsPath         string `json:"abs_path"`
	Package         string `json:"package"`
	Platform        string `json:"platform"`
	InstructionAddr string `json:"instruction_addr"`
	Line            uint32 `json:"lineno"`
	Column          uint32 `json:"colno"`
	InApp           *bool  `json:"in_app"`
}

type ThreadMetadata struct {
	Name     string `json:"name"`
	Priority *int64 `json:"priority"`
}

type DebugMeta struct {
	Images []Image `json:"images"`
}

type Image struct {
	Type     string `json:"type"`
	CodeFile string `json:"code_file"`
	CodeID   string `json:"code_id"`
	DebugID  string `json:"debug_id"`
	UUID     string `json:"uuid"`
	Arch     string `json:"arch"`
	Addr     string `json:"image_addr"`
	VMAddr   string `json:"image_vmaddr"`
	Size     uint64 `json:"image_size"`
}

type SDK struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type Device struct {
	Architecture string `json:"architecture"`
	IsEmulator   bool   `json:"is_emulator"`
	Locale       string `json:"locale"`
	Manufacturer string `json:"manufacturer"`
	Model        string `json:"model"`
}

type OS struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	BuildNumber string `json:"build_number"`
}

type Runtime struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type Transaction struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	TraceID        string `json:"trace_id"`
	ActiveThreadID string `json:"active_thread_id"`
}
