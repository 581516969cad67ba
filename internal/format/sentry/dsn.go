// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// DSN is the address that an SDK sends to, with key and project:
//
//	{scheme}://{public_key}[:{secret}]@{host}[:{port}][/{path}]/{project_id}
//
// https://develop.sentry.dev/sdk/foundations/transport/authentication/#parsing-the-dsn
type DSN struct {
	Scheme    string // "http" or "https"
	PublicKey string // 32 hex digits at Sentry; here any key that ValidKey accepts
	Secret    string // legacy, never needed; omitted by String
	Host      string // with the port, if any; IPv6 in brackets
	Path      string // prefix of a reverse proxy, as in the URL: "" or "/a/b"
	ProjectID string // decimal, without leading zeros
}

// Reasons for rejecting a DSN.
const (
	ReasonDSNInvalid    discard.Reason = "dsn_invalid"
	ReasonDSNBadKey     discard.Reason = "dsn_bad_key"
	ReasonDSNBadProject discard.Reason = "dsn_bad_project"
)

// DSNError is the reason for rejecting a DSN. It does not contain the DSN, which may contain a
// secret.
type DSNError struct {
	Reason discard.Reason
	Detail string
}

func (e *DSNError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

// ParseDSN parses a DSN. It ignores a trailing slash, and a query or fragment, in which some legacy
// SDKs put options. The error is of type *DSNError.
func ParseDSN(text string) (DSN, error) {
	fail := func(reason discard.Reason, format string, args ...any) (DSN, error) {
		return DSN{}, &DSNError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return fail(ReasonDSNInvalid, "not a URL") // err would contain it
	case u.Scheme != "http" && u.Scheme != "https":
		return fail(ReasonDSNInvalid, "scheme %.10q, expected http or https", u.Scheme)
	case u.Hostname() == "" || strings.Contains(u.Host, "%"): // the zone of an IPv6 address is local to one machine
		return fail(ReasonDSNInvalid, "no host, or a host with a zone")
	case u.User == nil || !ValidKey(u.User.Username()):
		return fail(ReasonDSNBadKey, "no public key of 1 to %d letters, digits, '_' or '-' before the '@'", MaxKeyBytes)
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	slash := strings.LastIndexByte(path, '/')
	id, err := ParseProjectID(path[slash+1:])
	if err != nil {
		return DSN{}, err
	}
	secret, _ := u.User.Password()
	return DSN{
		Scheme:    u.Scheme,
		PublicKey: u.User.Username(),
		Secret:    secret,
		Host:      strings.TrimSuffix(u.Host, ":"),
		Path:      strings.TrimRight(path[:max(slash, 0)], "/"),
		ProjectID: id,
	}, nil
}

// String returns the DSN without its secret.
func (d DSN) String() string {
	u := url.URL{Scheme: d.Scheme, User: url.User(d.PublicKey), Host: d.Host}
	return u.String() + d.Path + "/" + d.ProjectID
}

// EnvelopeURL returns the URL for envelopes: https://host/path/api/42/envelope/, with the trailing
// slash that all SDKs send.
func (d DSN) EnvelopeURL() string {
	u := url.URL{Scheme: d.Scheme, Host: d.Host}
	return u.String() + d.Path + "/api/" + d.ProjectID + "/envelope/"
}

// ParseProjectID checks a project ID from a DSN or a request path and returns it without leading
// zeros. Sentry's project IDs are 64-bit numbers, and SDKs reject DSNs with other IDs. The error is
// of type *DSNError.
func ParseProjectID(text string) (string, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return "", &DSNError{Reason: ReasonDSNBadProject, Detail: fmt.Sprintf("project id %.20q, expected a number", text)}
	}
	return strconv.FormatUint(id, 10), nil
}

// ValidKey reports whether a text can be the public key of a DSN. Sentry's own keys have 32 hex
// digits, and its ingest rejects all others. The receiver accepts any key that is safe in a header,
// a log line and an attribute, because users make up DSNs for development
// (http://public@localhost:4319/1), which most SDKs accept.
func ValidKey(key string) bool {
	if key == "" || len(key) > MaxKeyBytes {
		return false
	}
	for i := range len(key) {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
