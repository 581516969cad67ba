// SPDX-License-Identifier: Apache-2.0

package scrubbing

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/stretchr/testify/require"
)

// page returns everything that the page of profile_viewer and its API serve: lists, details, graphs
// and downloads.
func (e *exits) page() (all []string) {
	var overview struct {
		Profiles []struct{ ID string }
		Traces   []struct{ ID string }
	}
	text := e.get("/api/overview")
	require.NoError(e, json.Unmarshal([]byte(text), &overview))
	require.NotEmpty(e, overview.Profiles)
	require.NotEmpty(e, overview.Traces)
	all = append(all, text, e.get("/"), e.get("/api/logs"))
	for _, p := range overview.Profiles {
		text := e.get("/api/profiles/" + p.ID)
		all = append(all, text)
		var detail struct {
			Threads []struct{ ID string } `json:"thread_list"`
		}
		require.NoError(e, json.Unmarshal([]byte(text), &detail))
		for _, thread := range detail.Threads {
			all = append(all, e.get("/api/ordered?profile="+p.ID+"&thread="+url.QueryEscape(thread.ID)))
		}
		for _, path := range []string{
			"/api/flame?profile=" + p.ID, "/api/frame?frame=0&profile=" + p.ID,
			"/api/download/otlp?profile=" + p.ID, "/api/download/pprof?profile=" + p.ID, "/api/download/speedscope?profile=" + p.ID,
		} {
			all = append(all, e.get(path))
		}
	}
	for _, trace := range overview.Traces {
		text := e.get("/api/traces/" + trace.ID)
		all = append(all, text, e.get("/api/download/otlp?trace="+trace.ID))
		var detail struct {
			Spans []struct{ ID string } `json:"span_list"`
		}
		require.NoError(e, json.Unmarshal([]byte(text), &detail))
		for _, span := range detail.Spans[:min(len(detail.Spans), 50)] {
			all = append(all, e.get("/api/traces/"+trace.ID+"/spans/"+span.ID))
		}
	}
	e.Logf("%d profiles and %d traces on the page", len(overview.Profiles), len(overview.Traces))
	return all
}

// get returns a response of the page; a compressed one as plain text.
func (e *exits) get(path string) string {
	response, err := http.Get("http://" + e.viewer + path)
	require.NoError(e, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(e, err)
	if unzip, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
		body, err = io.ReadAll(unzip)
		require.NoError(e, err)
	}
	require.Equal(e, http.StatusOK, response.StatusCode, "%s: %s", path, body)
	return string(body)
}
