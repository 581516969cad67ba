// SPDX-License-Identifier: Apache-2.0

// Package otlpjson writes selected samples of profiles as one OTLP message in JSON. Nothing of the
// selected samples, their profiles and their resources is lost, except original payloads of
// profiles that lose samples.
package otlpjson

import (
	"io"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Writer writes one file.
type Writer struct {
	out     io.Writer
	message pprofile.Profiles
	builder *dictionary.Builder

	// The origin of the last profile. Profiles of the same origin follow each other.
	resource pprofile.ResourceProfiles
	scope    pprofile.ScopeProfiles
	view     dictionary.View
	copier   *dictionary.Copier

	observations int
}

// MaxObservations is the maximum number of observations in a file. The message and its JSON are in
// memory together, with about 50 bytes per observation.
const MaxObservations = 4 << 20

// NewWriter returns the writer of a file.
func NewWriter(out io.Writer) *Writer {
	message := pprofile.NewProfiles()
	return &Writer{out: out, message: message, builder: dictionary.NewBuilder(message.Dictionary())}
}

// Add adds the selected samples of a profile, which is in a scope of a resource. It adds nothing if
// none is selected.
func (w *Writer) Add(resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, p *timeline.Profile, filter timeline.Filter) error {
	selected, observations := selectedOf(p, filter)
	if selected == nil && p.OTLP.Samples().Len() > 0 {
		return nil
	}
	if w.observations += observations; w.observations > MaxObservations {
		return timeline.ErrTooLarge
	}
	out := w.in(resource, scope).AppendEmpty()
	p.OTLP.CopyTo(out)
	if selected.narrow(out, filter.Range) {
		payload.Clear(out)
	}
	if w.copier == nil || w.view != p.View {
		w.view, w.copier = p.View, dictionary.NewCopier(p.View, w.builder)
	}
	w.copier.Profile(out)
	return nil
}

// in returns the profiles of the copy of a scope.
func (w *Writer) in(resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles) pprofile.ProfilesSlice {
	resources := w.message.ResourceProfiles()
	if w.resource != resource {
		w.resource, w.scope = resource, pprofile.ScopeProfiles{}
		to := resources.AppendEmpty()
		resource.Resource().CopyTo(to.Resource())
		to.SetSchemaUrl(resource.SchemaUrl())
	}
	scopes := resources.At(resources.Len() - 1).ScopeProfiles()
	if w.scope != scope {
		w.scope = scope
		to := scopes.AppendEmpty()
		scope.Scope().CopyTo(to.Scope())
		to.SetSchemaUrl(scope.SchemaUrl())
	}
	return scopes.At(scopes.Len() - 1).Profiles()
}

// Close writes the file.
func (w *Writer) Close() error {
	w.builder.Finish()
	w.builder.Release()
	content, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(w.message)
	if err == nil {
		_, err = w.out.Write(content)
	}
	return err
}
