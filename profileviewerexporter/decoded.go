// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// decoded is the last decoded message, with the last profile that was read. It remains for a while,
// because a user who looks at a profile requests many parts of it. Only the response that is being
// built uses it.
type decoded struct {
	message *store.Message
	content pprofile.Profiles
	used    time.Time

	names   string // of the selection that the reader reads: see selection.names
	reader  *timeline.Reader
	summary *store.Profile
	profile *timeline.Profile // of summary
}

// keepDecoded is how long a decoded message remains after its last use: longer than users take from
// one click to the next.
const keepDecoded = 10 * time.Second

// read returns a profile of the selection. Numbers of functions depend on what a reader has read:
// selections of other profiles have their own reader.
func (s *selection) read(summary *store.Profile) (*timeline.Profile, error) {
	d, names := s.decoded, s.names()
	if d.message != summary.Message {
		*d = decoded{} // free it before the next one is decoded
		content, err := summary.Message.DecodeProfiles()
		if err != nil {
			return nil, err
		}
		d.message, d.content = summary.Message, content
	}
	if d.reader == nil || d.names != names {
		d.names, d.reader, d.summary = names, timeline.NewReader(d.content.Dictionary()), nil
		if s.raw {
			d.reader.Raw()
		}
	}
	if d.summary != summary {
		d.summary, d.profile = summary, d.reader.Read(profileAt(d.content, summary.Position))
	}
	d.used = time.Now()
	return d.profile, nil
}

func profileAt(m pprofile.Profiles, at store.Position) pprofile.Profile {
	return m.ResourceProfiles().At(at.Resource).ScopeProfiles().At(at.Scope).Profiles().At(at.Profile)
}

// releaseDecoded releases the decoded message if it has not been used for a while and no response
// is being built.
func (v *viewer) releaseDecoded(now time.Time) {
	select {
	case v.building <- struct{}{}:
		if now.Sub(v.decoded.used) > keepDecoded {
			v.decoded = decoded{}
		}
		<-v.building
	default:
	}
}
