package sentry

// Chunk is the payload of a "profile_chunk" item in sample format version 2: a piece of a profiler session, tied to no
// transaction. https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v2/
//
// The top-level "timestamp" that java adds is not decoded: ingest drops it, the samples carry their own times.
type Chunk struct {
	Version     string
	ProfilerID  string // one per profiler session
	ChunkID     string
	Platform    string
	Release     string
	Dist        string // python sends it, ingest drops it
	Environment string

	ClientSDK    ClientSDK
	DebugMeta    DebugMeta
	Measurements []Measurement

	Sampled

	Undecoded *Discard // a trace of Android, which is not decoded; nil = there is none
}

// ClientSDK is the SDK that took the profile. The lists "packages" and "integrations" that java adds are not decoded:
// ingest drops them.
type ClientSDK struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
