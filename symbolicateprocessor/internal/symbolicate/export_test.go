// SPDX-License-Identifier: Apache-2.0

package symbolicate

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/proguard"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/sourcemap"
)

// TestExportedRaw: Sentry does its own symbolication, so it gets the frames of the SDK after the
// processor has renamed all of them: the same bytes as without the processor.
func TestExportedRaw(t *testing.T) {
	chunks, renamed := 0, 0
	for _, c := range golden.Cases(t) {
		envelope, err := profilefile.ReadEnvelope(c.Envelope)
		if err != nil {
			continue
		}
		for _, item := range profilefile.Examine(envelope, sentryitems.DefaultSettings(), time.Unix(1_700_000_000, 0)).Items {
			for _, delivery := range item.Deliveries {
				sent, ok := delivery.Message.Data().(pprofile.Profiles)
				if !ok {
					continue
				}
				want := tosentry.ProfilesToChunks(sent, tosentry.ExportOptions{})
				renamed += Profiles(sent, everything{sent.Dictionary()})()[symbols.OK]
				require.Equal(t, want, tosentry.ProfilesToChunks(sent, tosentry.ExportOptions{}), c.Name)
				chunks += len(want.Items)
			}
		}
	}
	require.Greater(t, chunks, 80)
	require.Greater(t, renamed, 300)
}

// everything has a source map with another name and place for each frame. Profiles of node have
// paths, and lines of callers: their map has one line. A ProGuard mapping renames all classes.
type everything struct{ pprofile.ProfilesDictionary }

func (e everything) Mapping(string) (*proguard.Mapping, symbols.Status) {
	text := "renamed.None -> none:\n"
	for _, a := range e.AttributeTable().All() {
		if class := a.Value().AsString(); e.StringTable().At(int(a.KeyStrindex())) == semconv.SentryFrameModule {
			text += "renamed." + class + " -> " + class + ":\n"
		}
	}
	m, err := proguard.Read(symbols.NewWork(context.Background(), 1<<20, proguard.Limits, nil), strings.NewReader(text))
	if err != nil {
		panic(err)
	}
	return m, symbols.OK
}

// Native has one function at all addresses: the file of Breakpad covers all of them.
func (everything) Native(NativeID) (*native.Table, symbols.Status) {
	return nativeFile(), symbols.OK
}

func (everything) Script(id ScriptID) (*sourcemap.File, symbols.Status) {
	if strings.Contains(id.URL, "://") {
		return pageFile(), symbols.OK
	}
	return nodeFile(), symbols.OK
}

var (
	pageFile   = sync.OnceValue(func() *sourcemap.File { return fileOf(5000) })
	nativeFile = sync.OnceValue(func() *native.Table {
		text := "MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop\nFILE 0 other.cc\nFUNC 1 7fffffffffff 0 other\n1 7fffffffffff 7 0\n"
		var index bytes.Buffer
		if _, err := native.Index(symbols.NewWork(context.Background(), 0, native.Limits, nil), &index, strings.NewReader(text), native.Object{Format: native.Breakpad, Size: int64(len(text))}); err != nil {
			panic(err)
		}
		table, err := native.Open(bytes.NewReader(index.Bytes()), int64(index.Len()))
		if err != nil {
			panic(err)
		}
		return table
	})
	nodeFile = sync.OnceValue(func() *sourcemap.File { return fileOf(1) })
)

func fileOf(lines int) *sourcemap.File {
	work := symbols.NewWork(context.Background(), 1<<20, sourcemap.Limits, nil)
	m, err := sourcemap.Read(work, []byte(`{"version":3,"sources":["other.ts"],"mappings":"`+strings.Repeat("AAAA;", lines)+`"}`))
	if err != nil {
		panic(err)
	}
	file, err := sourcemap.NewFile(work, m, "function other(){"+strings.Repeat("\n", lines)+"}")
	if err != nil {
		panic(err)
	}
	return file
}
