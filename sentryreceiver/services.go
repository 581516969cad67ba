// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"cmp"
	"strings"
	"sync"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// services remembers the last service that each program stated. Client reports and old sessions
// state no release: without this memory, they would get a service that does not exist. Programs
// with the same key and SDK cannot be distinguished; the last one is used. OTLP whose resource
// names no service gets it, too: of the same SDK or, as Node's and Ruby's integrations do not send
// its name, of the last SDK in the same language.
type services struct {
	mu        sync.Mutex
	byProgram map[program]*fairshare.Entry[string, service]
	all       fairshare.Queue[string, service] // by project
}

// program identifies the program that sent a request.
type program struct {
	project, key string
	client       string // the SDK, as its credentials name it in all requests, or else the user agent; or a language
}

type service struct {
	program
	attr.Identity
}

// maxServices limits the memory of all projects together, in bytes: more than 1,000 programs, each
// with an entry of its own and one of its language.
const maxServices = 1 << 20

// programOf returns the program that sent a request. A tunnel has no credentials, and JavaScript's
// client reports in it do not name the SDK.
func programOf(auth sentry.Auth, userAgent string) program {
	return program{auth.ProjectID, auth.PublicKey, attr.Clip(cmp.Or(auth.Client, userAgent), attr.MaxNameBytes)}
}

// knownIn returns the identities of the services that share a key, by language.
func (s *services) knownIn(auth sentry.Auth) fromsentry.KnownIn {
	return func(language string) attr.Identity {
		if len(language) > attr.MaxNameBytes { // any number of resources may refer to one text
			return attr.Identity{}
		}
		return s.lastOf(program{auth.ProjectID, auth.PublicKey, language})
	}
}

// lastOf returns the identity of a program's service, zero if it is not known.
func (s *services) lastOf(p program) attr.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry := s.byProgram[p]; entry != nil {
		return entry.Value.Identity
	}
	return attr.Identity{}
}

// saw stores the identity that a program stated.
func (s *services) saw(p program, id attr.Identity) {
	id.Machine = nil
	if id == (attr.Identity{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(p, id)
	if language := id.Language(); language != "" {
		s.store(program{p.project, p.key, language}, id)
	}
	for s.all.Size() > maxServices {
		oldest := s.all.LargestOldest()
		s.all.Remove(oldest)
		delete(s.byProgram, oldest.Value.program)
	}
}

func (s *services) store(p program, id attr.Identity) {
	var known service
	if entry := s.byProgram[p]; entry == nil {
		p = program{strings.Clone(p.project), strings.Clone(p.key), strings.Clone(p.client)}
	} else {
		known = entry.Value
		if p = known.program; id.Release == known.Release {
			id.Dist = cmp.Or(id.Dist, known.Dist) // logs and metrics do not state it
		}
		if id == known.Identity { // most often
			s.all.Renew(entry)
			return
		}
		s.all.Remove(entry)
	}
	if s.byProgram == nil {
		s.byProgram = map[program]*fairshare.Entry[string, service]{}
	}
	id = id.Cloned(known.Identity)
	s.byProgram[p] = s.all.Push(p.project, service{p, id}, sizeOf(p, id))
}

func sizeOf(p program, id attr.Identity) int64 {
	const entry = 250 // the entry, the keys of two maps
	return int64(entry + 2*len(p.project+p.key+p.client) + len(id.Platform+id.Release+id.Dist+id.Environment+id.Sdk.Name+id.Sdk.Version))
}
