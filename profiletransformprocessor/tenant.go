// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

// tenantOf returns the tenant of a message: that of its credentials, subdivided by the first
// resource. The whole message counts toward this tenant, because receivers send one message per
// project.
func tenantOf(ctx context.Context, keys spanlink.Keys, profiles pprofile.Profiles) spanlink.Tenant {
	of := spanlink.Tenant{Authenticated: tenant.FromContext(ctx).String()}
	if profiles.ResourceProfiles().Len() > 0 {
		of.Stated = strings.Clone(keys.StatedTenant(profiles.ResourceProfiles().At(0).Resource().Attributes()))
	}
	return of
}

// shares shares one limit of the queue between senders with different credentials and, for each of
// them, between the tenants that its data states. Data can state any number of tenants, but they
// share what their sender may use.
type shares struct {
	senders fairshare.Queue[string, *heldMessage]
	stated  map[string]*fairshare.Queue[string, *heldMessage] // by sender
}

// place is the place of a message in shares.
type place struct {
	ofSender, ofStated *fairshare.Entry[string, *heldMessage]
}

func (s *shares) add(h *heldMessage, size int64) place {
	stated := s.stated[h.tenant.Authenticated]
	if stated == nil {
		if s.stated == nil {
			s.stated = map[string]*fairshare.Queue[string, *heldMessage]{}
		}
		stated = &fairshare.Queue[string, *heldMessage]{}
		s.stated[h.tenant.Authenticated] = stated
	}
	return place{s.senders.Push(h.tenant.Authenticated, h, size), stated.Push(h.tenant.Stated, h, size)}
}

func (s *shares) remove(h *heldMessage, p place) {
	s.senders.Remove(p.ofSender)
	stated := s.stated[h.tenant.Authenticated]
	if stated == nil {
		return
	}
	if stated.Remove(p.ofStated); stated.Len() == 0 {
		delete(s.stated, h.tenant.Authenticated)
	}
}

// largestOldest returns the oldest message of the tenant that uses the most, of the sender that
// uses the most.
func (s *shares) largestOldest() *heldMessage {
	sender := s.senders.LargestOldest().Tenant()
	return s.stated[sender].LargestOldest().Value
}

// belowShare reports whether the tenant of a message uses less than an equal share of a limit, and
// another message belongs to another tenant.
func (s *shares) belowShare(h, other *heldMessage, limit int64) bool {
	limit /= int64(s.senders.Tenants())
	if sender := h.tenant.Authenticated; other.tenant.Authenticated != sender {
		return s.senders.Use(sender) <= limit
	}
	stated := s.stated[h.tenant.Authenticated]
	return other.tenant != h.tenant && stated.Use(h.tenant.Stated) <= limit/int64(stated.Tenants())
}
