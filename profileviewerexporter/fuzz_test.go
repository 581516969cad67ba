// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// fuzzViewer is a viewer without a listener.
func fuzzViewer() *viewer {
	cfg := testConfig(nil)
	return &viewer{cfg: cfg, store: store.New(cfg.MaxBytes, time.Hour), building: make(chan struct{}, concurrentBuilds)}
}

// ask gives the answer to a question, which is JSON, one of ours, and no failure of ours.
func ask(t *testing.T, page http.Handler, question string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	page.ServeHTTP(w, &http.Request{Method: http.MethodGet, Host: "localhost", URL: &url.URL{Path: "/api/" + question[:strings.IndexByte(question, '?')], RawQuery: question[strings.IndexByte(question, '?')+1:]}})
	require.Contains(t, []int{200, 301, 307, 400, 404, 410, 422}, w.Code, "%s: %s", question, w.Body)
	if w.Header().Get("Content-Type") == "application/json" {
		require.True(t, json.Valid(w.Body.Bytes()), "%s: %s", question, w.Body)
	}
	return w
}

// FuzzProfile keeps any message, and asks everything about the first profile in it. What it weighs
// is the same in every view, and files of other tools are valid.
func FuzzProfile(f *testing.F) {
	for _, shape := range []timelinetest.Shape{timelinetest.Wall, {Type: "cpu", Unit: "nanoseconds"}} {
		p := timelinetest.Message("shop", shape, shop...)
		encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
		require.NoError(f, err)
		f.Add(encoded)
		step := 44
		if testsize.Full() {
			step = 11
		}
		for i := 0; i < len(encoded); i += step {
			broken := append([]byte(nil), encoded...)
			broken[i] ^= 0x15
			f.Add(broken)
		}
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		message, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		if err != nil {
			return
		}
		v := fuzzViewer()
		page := v.routes()
		message.MarkReadOnly()
		if v.consumeProfiles(t.Context(), message) != nil || v.store.Stats().Messages == 0 {
			return
		}
		ask(t, page, "overview?")
		ask(t, page, "profiles/1?")
		ask(t, page, "compare?a=1&b=1")
		ask(t, page, "frame?profile=1&frame=0")
		ask(t, page, "download/otlp?profile=1")
		ask(t, page, "download/speedscope?profile=1")
		for _, thread := range threadsOf(v) {
			ask(t, page, "ordered?profile=1&thread="+url.QueryEscape(thread))
		}
		var graph flameAnswer
		if w := ask(t, page, "flame?profile=1"); w.Code == http.StatusOK {
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &graph))
			summary, _ := v.store.Profile(1)
			require.Equal(t, summary.Weight, graph.Total+graph.Idle)
			if graph.Total >= 0 { // sums of extreme values overflow
				require.Equal(t, graph.Total, drawnSelf(graph.Boxes))
			}
			require.LessOrEqual(t, graph.Samples, summary.Samples, "those on a stack")
		}
		if w := ask(t, page, "download/pprof?profile=1"); w.Code == http.StatusOK {
			out, err := profile.ParseData(w.Body.Bytes())
			require.NoError(t, err)
			require.NoError(t, out.CheckValid())
		}
	})
}

func threadsOf(v *viewer) (list []string) {
	summary, _ := v.store.Profile(1)
	decoded, _ := summary.Message.DecodeProfiles()
	for _, thread := range timelinetest.Read(decoded.Dictionary(), profileAt(decoded, summary.Position)).Threads {
		list = append(list, thread.ID)
	}
	return list[:min(len(list), 3)]
}

// FuzzQuestion asks a page anything.
func FuzzQuestion(f *testing.F) {
	v := fuzzViewer()
	page := v.routes()
	require.NoError(f, v.consumeProfiles(f.Context(), timelinetest.Message("shop", timelinetest.Wall, shop...)))
	for _, question := range []string{
		"overview?service=shop", "profiles/1?", "flame?profile=1&thread=1&from=0&to=9&left=1&right=5&pixels=7&q=a", "flame?" + span7, "flame?profile=1&view=callers&function=1&q=(a|b)", "ordered?profile=1&thread=1",
		"frame?profile=1&frame=1", "compare?a=1&b=1", "traces/00000000000000000000000000000007?", "logs?service=", "download/pprof?profile=1", "/?",
	} {
		f.Add(question)
	}
	f.Fuzz(func(t *testing.T, question string) {
		if strings.Contains(question, "?") {
			ask(t, page, question)
		}
	})
}
