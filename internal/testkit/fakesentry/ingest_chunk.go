// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Verdict returns why Sentry's ingest would reject the item of an envelope, or drop a part of it,
// after its response 200; "" if it accepts all. It uses no code of the product except the headers.
func Verdict(e *sentry.Envelope) string {
	const maxSessions = 100 // max_session_count; one of other types (relay-server/src/utils/sizes.rs)
	if n := len(e.Items); n != 1 && (n == 0 || n > maxSessions || e.Items[0].Header.Type != sentry.ItemSession) {
		return fmt.Sprintf("%d items", n)
	}
	for i := range e.Items {
		item := &e.Items[i]
		judge, known := verdicts[item.Header.Type]
		if !known || item.Header.Type != e.Items[0].Header.Type {
			return "item type " + string(item.Header.Type)
		}
		if verdict := judge(&e.Header, item); verdict != "" {
			return verdict
		}
	}
	return ""
}

// verdicts are the rules of ingest for each type of item that the exporter writes.
var verdicts = map[sentry.ItemType]func(*sentry.EnvelopeHeader, *sentry.Item) string{
	sentry.ItemProfileChunk: chunkVerdict,
	sentry.ItemTransaction:  transactionVerdict,
	sentry.ItemSpan:         containerVerdict,
	sentry.ItemEvent:        eventVerdict,
	sentry.ItemFeedback:     eventVerdict,
	sentry.ItemLog:          logsVerdict,
	sentry.ItemTraceMetric:  metricsVerdict,
	sentry.ItemSession:      sessionVerdict,
	sentry.ItemSessions:     sessionsVerdict,
	sentry.ItemClientReport: clientReportVerdict,
	sentry.ItemCheckIn:      checkInVerdict,
	sentry.ItemUserReport:   userReportVerdict,
}

// The published rules of ingest for a profile chunk (relay-profiling): the types of its fields,
// then its checks in their order.

type ingestChunk struct {
	Version     *string                      `json:"version"`
	ProfilerID  *string                      `json:"profiler_id"`
	ChunkID     *string                      `json:"chunk_id"`
	Platform    *string                      `json:"platform"`
	Release     *string                      `json:"release"`
	Environment *string                      `json:"environment"`
	ClientSDK   *ingestSDK                   `json:"client_sdk"`
	DebugMeta   *ingestDebugMeta             `json:"debug_meta"`
	Measurement map[string]ingestMeasurement `json:"measurements"`
	Profile     *ingestProfile               `json:"profile"`
}

type ingestSDK struct {
	Name    *string `json:"name"`
	Version *string `json:"version"`
}

type ingestDebugMeta struct {
	Images []ingestImage `json:"images"`
}

type ingestImage struct {
	Type     string  `json:"type"`
	CodeFile *string `json:"code_file"`
	// DebugID is the form of the ids of images.
	DebugID *string `json:"debug_id"`
	UUID    *string `json:"uuid"`
	Addr    *string `json:"image_addr"`
	VMAddr  *string `json:"image_vmaddr"`
	Size    uint64  `json:"image_size"`
}

type ingestMeasurement struct {
	Unit   *string `json:"unit"`
	Values []struct {
		Timestamp *float64 `json:"timestamp"`
		Value     *float64 `json:"value"`
	} `json:"values"`
}

type ingestProfile struct {
	Samples []struct {
		Timestamp *float64 `json:"timestamp"`
		ThreadID  *string  `json:"thread_id"`
		StackID   *uint32  `json:"stack_id"`
	} `json:"samples"`
	Stacks  [][]uint32    `json:"stacks"`
	Frames  []ingestFrame `json:"frames"`
	Threads map[string]struct {
		Name     *string `json:"name"`
		Priority *uint32 `json:"priority"` // relay-profiling/src/sample/v2.rs; any other number fails the chunk
	} `json:"thread_metadata"`
}

type ingestFrame struct {
	Function, Module, Filename, Package, Platform *string
	AbsPath                                       *string `json:"abs_path"`
	Line                                          *uint32 `json:"lineno"`
	Column                                        *uint32 `json:"colno"`
	InApp                                         *bool   `json:"in_app"`
	Address                                       *string `json:"instruction_addr"`
}

var (
	// ID is the form of profiler, chunk and event ids.
	ID            = regexp.MustCompile(`^[0-9a-f]{32}$`)
	ingestAddress = regexp.MustCompile(`^0x[0-9a-f]{1,16}$`)
	// DebugID is the form of the ids of images.
	DebugID = regexp.MustCompile(`^(?i)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-[0-9a-f]{1,8})?|[0-9a-f]{32}-?[0-9a-f]{0,8}|[0-9a-f]{9,16})$`)
	// MeasurementUnits and ImageTypes are those of profiles: any other fails the whole profile.
	MeasurementUnits = []string{"nanosecond", "ns", "hertz", "hz", "byte", "percent", "nanojoule", "nj"}
	ImageTypes       = []string{"macho", "symbolic", "sourcemap", "proguard", "jvm"}
)

func chunkVerdict(_ *sentry.EnvelopeHeader, item *sentry.Item) string {
	var c ingestChunk
	decoder := json.NewDecoder(bytes.NewReader(item.Payload))
	if err := decoder.Decode(&c); err != nil {
		return "invalid_json: " + err.Error()
	}
	if !json.Valid(item.Payload) || !bytes.Equal(bytes.ToValidUTF8(item.Payload, nil), item.Payload) {
		return "invalid_json: not one value of UTF-8"
	}
	for _, check := range []func(*ingestChunk, *sentry.Item) string{ingestHead, ingestMeta, ingestFrames, ingestSamples} {
		if verdict := check(&c, item); verdict != "" {
			return verdict
		}
	}
	return ""
}

func ingestHead(c *ingestChunk, item *sentry.Item) string {
	switch {
	case item.Header.Type != "profile_chunk" || item.Header.ContentType != "application/json" || item.Header.MetaLength.Set:
		return "item header"
	case c.Version == nil || *c.Version != "2":
		return "platform_not_supported: version"
	case c.ProfilerID == nil || !ID.MatchString(*c.ProfilerID):
		return "profiler_id"
	case c.ChunkID == nil || !ID.MatchString(*c.ChunkID) || strings.Trim(*c.ChunkID, "0") == "":
		return "chunk_id"
	case c.Platform == nil || *c.Platform == "" || *c.Platform != item.Header.Platform:
		return "invalid_profile_type: platform"
	case c.ClientSDK == nil || c.ClientSDK.Name == nil || c.ClientSDK.Version == nil || *c.ClientSDK.Name == "" || *c.ClientSDK.Version == "":
		return "client_sdk"
	case len(item.Payload) > 50<<20:
		return "exceed_size_limit"
	case c.Profile == nil:
		return "no profile"
	}
	return ""
}

func ingestMeta(c *ingestChunk, _ *sentry.Item) string {
	for name, m := range c.Measurement {
		if m.Unit == nil || !slices.Contains(MeasurementUnits, *m.Unit) {
			return "measurement unit of " + name
		}
		for _, v := range m.Values {
			if v.Timestamp == nil || v.Value == nil {
				return "measurement value of " + name
			}
		}
	}
	if c.DebugMeta == nil {
		return ""
	}
	for _, image := range c.DebugMeta.Images {
		if !slices.Contains(ImageTypes, image.Type) {
			return "image type " + image.Type
		}
		if image.DebugID == nil && image.UUID == nil {
			return "image without an id"
		}
		for _, id := range []*string{image.DebugID, image.UUID} {
			if id != nil && !DebugID.MatchString(*id) {
				return "image id " + *id
			}
		}
		for _, address := range []*string{image.Addr, image.VMAddr} {
			if address != nil && !ingestAddress.MatchString(*address) {
				return "image address " + *address
			}
		}
	}
	return ""
}

func ingestFrames(c *ingestChunk, _ *sentry.Item) string {
	for i, f := range c.Profile.Frames {
		switch {
		case f.Function == nil && f.Filename == nil && f.Address == nil:
			return fmt.Sprintf("frame %d says nothing", i)
		case f.Line != nil && *f.Line == 0 || f.Column != nil && *f.Column == 0:
			return fmt.Sprintf("frame %d: line or column 0", i)
		case f.Address != nil && !ingestAddress.MatchString(*f.Address):
			return fmt.Sprintf("frame %d: address %s", i, *f.Address)
		}
	}
	for i, stack := range c.Profile.Stacks {
		for _, frame := range stack {
			if int(frame) >= len(c.Profile.Frames) {
				return fmt.Sprintf("malformed_stacks: frame %d in stack %d", frame, i)
			}
		}
	}
	return ""
}

func ingestSamples(c *ingestChunk, _ *sentry.Item) string {
	active := map[string]int{}
	first, last := math.Inf(1), math.Inf(-1)
	for i, s := range c.Profile.Samples {
		switch {
		case s.Timestamp == nil || s.ThreadID == nil || s.StackID == nil:
			return fmt.Sprintf("sample %d lacks a field", i)
		case int(*s.StackID) >= len(c.Profile.Stacks):
			return fmt.Sprintf("malformed_samples: stack %d", *s.StackID)
		}
		first, last = min(first, *s.Timestamp), max(last, *s.Timestamp)
		active[*s.ThreadID] += min(1, len(c.Profile.Stacks[*s.StackID]))
	}
	kept := 0
	for thread, count := range active {
		if count == 1 {
			return fmt.Sprintf("the only active sample of thread %q is dropped", thread)
		}
		kept += count
	}
	switch {
	case kept == 0:
		return "not_enough_samples"
	case last-first > 60.001:
		return fmt.Sprintf("duration_is_too_long: %f s", last-first)
	}
	for thread := range c.Profile.Threads {
		if _, sampled := active[thread]; !sampled {
			return fmt.Sprintf("thread_metadata of %q, which has no samples", thread)
		}
	}
	return ""
}
