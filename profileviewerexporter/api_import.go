// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const (
	// maxImport is the maximum size of an imported file, after decompression. The largest file in
	// our recordings is 34 MB.
	maxImport = 64 << 20

	// minImportRate is the minimum rate of a file in bytes per second. Only one file at a time is
	// read: at this rate, the largest one delays the next by less than five minutes.
	minImportRate = 256 << 10

	// maxImportedLosses is the maximum number of different losses in a response.
	maxImportedLosses = 100
)

// importAnswer states what an imported file contains, and what was lost.
type importAnswer struct {
	answer.Omissions
	Format   string       `json:"format"`
	Profiles int          `json:"profiles"`
	Spans    int          `json:"spans"`
	Logs     int          `json:"logs"`
	Points   int          `json:"points"` // data points of metrics
	Losses   []lossAnswer `json:"losses"`
}

type lossAnswer struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// importFile stores the content of a file. If the file names no service, the file name in the query
// becomes the service name.
func (v *viewer) importFile(w http.ResponseWriter, r *http.Request) {
	select {
	case v.importing <- struct{}{}: // one file at a time is in memory
		defer func() { <-v.importing }()
	case <-r.Context().Done():
		return
	}
	file, err := profilefile.Load(r.Body, maxImport)
	v.respond(w, r, func(r *http.Request) (any, error) {
		if err != nil {
			return nil, unreadable(err)
		}
		return v.importData(r, file)
	})
}

// unreadable returns the failure for a body that cannot be read. confighttp also limits bodies.
func unreadable(err error) error {
	status := http.StatusBadRequest
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	if _, unpacked := errors.AsType[profilefile.TooLargeError](err); tooLarge || unpacked {
		status = http.StatusRequestEntityTooLarge
	}
	return failure{status: status, text: "cannot read the file: " + err.Error()}
}

func (v *viewer) importData(r *http.Request, file profilefile.File) (any, error) {
	now := time.Now()
	format, content, err := profilefile.Read(file, "", importer.Options{Name: answer.Display(r.URL.Query().Get("name")), Start: now})
	if err != nil {
		return nil, failure{status: http.StatusUnprocessableEntity, text: answer.Display("cannot read the file: " + err.Error())}
	}
	out := importAnswer{Format: format, Losses: []lossAnswer{}}
	if err := v.storeContent(r.Context(), &content, now, &out); err != nil {
		return nil, err
	}
	for i, l := range content.Losses {
		if i == maxImportedLosses {
			out.Omitted += len(content.Losses) - i
			break
		}
		texts := answer.PerEntry(answer.MaxTexts, min(len(content.Losses), maxImportedLosses), &out.Omissions)
		out.Losses = append(out.Losses, lossAnswer{texts.Text(l.What), l.Count})
	}
	return out, nil
}

// storeContent stores and counts the messages of a file. Messages that are larger than the store
// are losses.
func (v *viewer) storeContent(ctx context.Context, content *profilefile.Content, now time.Time, out *importAnswer) error {
	var failed error
	count := func(signal store.Signal, n int, sum *int, stored bool, err error) {
		if stored {
			*sum += n
		} else if err == nil {
			content.Losses = append(content.Losses, importer.Loss{What: fmt.Sprintf("message of %s: it is larger than max_bytes", signal), Count: 1})
		}
		failed = errors.Join(failed, v.report(ctx, signal, stored, err))
	}
	for _, m := range content.Profiles {
		stored, err := v.store.AddProfiles(ctx, m, now)
		count(store.Profiles, m.ProfileCount(), &out.Profiles, stored, err)
	}
	for _, m := range content.Traces {
		stored, err := v.store.AddTraces(ctx, m, now)
		count(store.Traces, m.SpanCount(), &out.Spans, stored, err)
	}
	for _, m := range content.Logs {
		stored, err := v.store.AddLogs(ctx, m, now)
		count(store.Logs, m.LogRecordCount(), &out.Logs, stored, err)
	}
	for _, m := range content.Metrics {
		stored, err := v.store.AddMetrics(ctx, m, now)
		count(store.Metrics, m.DataPointCount(), &out.Points, stored, err)
	}
	return failed
}
