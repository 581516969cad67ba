// SPDX-License-Identifier: Apache-2.0

// Package tenant carries the tenant of a message from authenticated ingress to every component that
// stores, indexes, caches, queues or looks up something.
//
// A tenant comes from credentials, never from data: an attribute, a header or a file name can be
// written by any client. Receivers set it with NewContext after they have checked the key of a
// request. It travels in the authentication data of client.Info, which clients cannot set. Client
// metadata is not used, because receivers with include_metadata fill it from headers.
package tenant

import (
	"context"

	"go.opentelemetry.io/collector/client"
)

// Tenant identifies the owner of a message. It is comparable. The zero value is the tenant of all
// messages whose ingress has no authentication.
type Tenant struct {
	// Ingress is the kind of credentials: Sentry and Measure for a receiver of this module, Other
	// for an authenticator of the collector.
	Ingress Ingress
	// Name is the identity that belongs to the credentials: the ID of a Sentry project, the name
	// of a Measure app, or the subject of an authenticator.
	Name string
}

// Ingress is a kind of credentials. Equal names of different kinds are different tenants.
type Ingress uint8

// The kinds of credentials.
const (
	Anonymous Ingress = iota
	Sentry
	Measure
	Other
)

// String returns a text that differs between tenants, for keys in storage.
func (t Tenant) String() string {
	if t == (Tenant{}) {
		return ""
	}
	return string('0'+rune(t.Ingress)) + "/" + t.Name
}

// Parse is the inverse of String. It returns the zero value for any other text.
func Parse(text string) Tenant {
	if len(text) < 2 || text[0] <= '0' || text[0] > '0'+byte(Other) || text[1] != '/' {
		return Tenant{}
	}
	return Tenant{Ingress: Ingress(text[0] - '0'), Name: text[2:]}
}

// authData is the authentication data of client.Info with a tenant. It is comparable if the
// authenticator's data is.
type authData struct {
	client.AuthData // of an authenticator of the receiver, or nil
	tenant          Tenant
}

// GetAttribute implements client.AuthData.
func (a authData) GetAttribute(name string) any {
	if a.AuthData == nil {
		return nil
	}
	return a.AuthData.GetAttribute(name)
}

// GetAttributeNames implements client.AuthData.
func (a authData) GetAttributeNames() []string {
	if a.AuthData == nil {
		return nil
	}
	return a.AuthData.GetAttributeNames()
}

// NewContext returns a context with the tenant. The attributes of an authenticator stay.
func NewContext(ctx context.Context, t Tenant) context.Context {
	info := client.FromContext(ctx)
	if before, ok := info.Auth.(authData); ok {
		info.Auth = before.AuthData
	}
	info.Auth = authData{AuthData: info.Auth, tenant: t}
	return client.NewContext(ctx, info)
}

// subjects are the attributes with which authenticators of the collector name the client:
// basicauthextension sets username, oidcauthextension sets subject.
var subjects = []string{"subject", "username"}

// FromContext returns the tenant of a message. Clients of an authenticator that names no client
// are one tenant, because all of them have the same credentials.
func FromContext(ctx context.Context) Tenant {
	switch auth := client.FromContext(ctx).Auth.(type) {
	case nil:
		return Tenant{}
	case authData:
		return auth.tenant
	default:
		for _, name := range subjects {
			if subject, ok := auth.GetAttribute(name).(string); ok && subject != "" {
				return Tenant{Ingress: Other, Name: subject}
			}
		}
		return Tenant{Ingress: Other}
	}
}
