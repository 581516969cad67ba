// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// recording is the decompressed body of a request.
type recording struct {
	name  string // of its case
	sdk   string // "sentry.python 2.68.0"; the name of the case if the body names no SDK
	items []sentry.ItemType
	body  []byte
}

// handWritten are test cases for SDKs without recordings: an Android method trace, a Perfetto trace, and React Native.
var handWritten = []string{"android-v1-art", "android-v2-perfetto-trace", "react-native-v2-art"}

// load reads the recorded requests of the test cases.
func load(cases string) ([]recording, error) {
	files, err := filepath.Glob(filepath.Join(cases, "sdk-*", "in.envelope"))
	if err != nil {
		return nil, err
	}
	for _, name := range handWritten {
		file := filepath.Join(cases, name, "in.envelope")
		if _, err := os.Stat(file); err == nil {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no recorded requests at %s: run it from the root of the repository, or say -cases", filepath.Join(cases, "sdk-*"))
	}
	var recordings []recording
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r, err := newRecording(filepath.Base(filepath.Dir(file)), body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		recordings = append(recordings, r)
	}
	return recordings, nil
}

func newRecording(name string, body []byte) (recording, error) {
	envelope, err := sentry.ReadEnvelope(body)
	if err != nil {
		return recording{}, err
	}
	r := recording{name: name, body: body, sdk: sdkText(sdk(envelope.Header.SDK))}
	for _, item := range envelope.Items {
		r.items = append(r.items, item.Header.Type)
		r.sdk = cmp.Or(r.sdk, sdkOf(item.Payload))
	}
	r.sdk = cmp.Or(r.sdk, name)
	return r, nil
}

type sdk struct{ Name, Version string }

func sdkText(s sdk) string { return strings.TrimSpace(s.Name + " " + s.Version) }

// sdkOf returns the SDK of a payload: python sends an empty envelope header with chunks.
func sdkOf(payload []byte) string {
	var head struct {
		ClientSDK sdk `json:"client_sdk"` // profile chunks
		SDK       sdk `json:"sdk"`        // transactions and events
	}
	_ = json.Unmarshal(payload, &head) // attachments are not JSON
	return cmp.Or(sdkText(head.ClientSDK), sdkText(head.SDK))
}

func (r recording) itemNames() string {
	names := make([]string, len(r.items))
	for i, item := range r.items {
		names[i] = string(item)
	}
	return strings.Join(names, ", ")
}

func (r recording) profiles() (n int) {
	for _, item := range r.items {
		if item == sentry.ItemProfile || item == sentry.ItemProfileChunk || item == sentry.ItemProfileChunkUI {
			n++
		}
	}
	return n
}
