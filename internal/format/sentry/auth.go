// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Auth identifies the sender of a request, whatever the form of its credentials. Public keys are
// not secret; they only distinguish senders.
//
// https://develop.sentry.dev/sdk/foundations/transport/authentication/
type Auth struct {
	PublicKey string
	ProjectID string // from the request path, else from the envelope's DSN (tunnels); "" = neither has one
	Version   string // of the protocol, a number up to ProtocolVersion, which is also the default
	Client    string // name/version of the SDK, e.g. sentry.python/2.68.0; "" = not sent. Arbitrary text from the client
}

// Credentials are the parts of a request that may contain credentials; "" = absent. All except
// EnvelopeDSN are outside the body.
type Credentials struct {
	SentryAuth    string // header X-Sentry-Auth: most backend SDKs
	Authorization string // header Authorization: the same as "Sentry …", or "Basic …" with the key as user name
	RawQuery      string // query of the URL: node and browsers (?sentry_key=…), which avoids a CORS preflight
	PathKey       string // {sentry_key} segment of the URL: cron and unreal endpoints only
	ProjectID     string // {project_id} segment of the URL
	EnvelopeDSN   string // header field dsn of the envelope: the only source behind a tunnel
}

// ProtocolVersion is the newest version of Sentry's protocol; raven-ruby still sends 5.
const ProtocolVersion = 7

// Reasons for rejecting credentials, with the status of Relay's response.
const (
	ReasonAuthMissing        discard.Reason = "auth_missing"          // 401
	ReasonAuthMultiple       discard.Reason = "auth_multiple"         // 401
	ReasonAuthBadEnvelopeDSN discard.Reason = "auth_bad_envelope_dsn" // 401
	ReasonAuthBadKey         discard.Reason = "auth_bad_key"          // 400
	ReasonAuthBadVersion     discard.Reason = "auth_bad_version"      // 400
	ReasonAuthBadProject     discard.Reason = "auth_bad_project"      // 400
	ReasonAuthMismatch       discard.Reason = "auth_mismatch"         // 400
)

// AuthError is the reason for rejecting credentials. It does not contain text that may be a
// password.
type AuthError struct {
	Reason discard.Reason
	Detail string
}

func (e *AuthError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

func authError(reason discard.Reason, format string, args ...any) *AuthError {
	return &AuthError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Authenticate identifies the sender by Relay's rules (relay-server/src/extractors/request_meta.rs,
// envelope/mod.rs), with two exceptions, because a rejection loses data permanently:
//   - the same key in two parts of the request is accepted, where Relay responds "multiple
//     authorization payloads detected"; different keys are still rejected;
//   - a part without a key is ignored, and an invalid dsn in the envelope matters only if there is
//     no other key.
//
// The caller decides whether the key may write to the project. The error is of type *AuthError.
func Authenticate(c Credentials) (Auth, error) {
	auth, err := requestAuth(c)
	if err != nil {
		return Auth{}, err
	}
	if c.ProjectID != "" {
		id, err := ParseProjectID(c.ProjectID)
		if err != nil {
			return Auth{}, authError(ReasonAuthBadProject, "project id %.20q in the path, expected a number", c.ProjectID)
		}
		auth.ProjectID = id
	}
	if c.EnvelopeDSN != "" {
		dsn, err := ParseDSN(c.EnvelopeDSN)
		switch {
		case err == nil:
			if err := auth.complete(dsn); err != nil {
				return Auth{}, err
			}
		case auth.PublicKey == "":
			return Auth{}, authError(ReasonAuthBadEnvelopeDSN, "dsn in the envelope: %s", err)
		}
	}
	if auth.PublicKey == "" {
		return Auth{}, authError(ReasonAuthMissing, "no sentry_key in the request and no dsn in the envelope")
	}
	if auth.Version == "" {
		auth.Version = strconv.Itoa(ProtocolVersion)
	}
	return auth, nil
}

// complete adds the key and the project of the envelope's DSN, which must not contradict the
// request. Go, PHP, Ruby and Native send both.
func (a *Auth) complete(dsn DSN) error {
	if a.PublicKey == "" {
		a.PublicKey = dsn.PublicKey
	}
	if a.ProjectID == "" {
		a.ProjectID = dsn.ProjectID
	}
	if a.PublicKey != dsn.PublicKey {
		return authError(ReasonAuthMismatch, "the request and the dsn in the envelope have different public keys")
	}
	if a.ProjectID != dsn.ProjectID {
		return authError(ReasonAuthMismatch, "the request is for project %s, the dsn in the envelope for %s",
			a.ProjectID, dsn.ProjectID)
	}
	return nil
}

// requestAuth merges the credentials from the parts of a request, in Relay's order. It returns an
// empty key if there are none.
func requestAuth(c Credentials) (Auth, error) {
	var auth Auth
	var read credentialReader
	for _, source := range [...]struct {
		name, text string
		pairs      func(r *credentialReader, text string)
	}{
		{"header X-Sentry-Auth", c.SentryAuth, sentryPairs},
		{"header Authorization", c.Authorization, sentryPairs},
		{"header Authorization", c.Authorization, basicPairs},
		{"query", c.RawQuery, queryPairs},
		{"path", c.PathKey, pathPairs},
	} {
		if source.text == "" {
			continue
		}
		read = credentialReader{source: source.name}
		source.pairs(&read, source.text)
		found, err := read.result()
		switch {
		case err != nil:
			return Auth{}, err
		case found.PublicKey == "":
			continue
		case auth.PublicKey == "":
			auth = found
		case auth.PublicKey != found.PublicKey:
			return Auth{}, authError(ReasonAuthMultiple, "a second public key in the %s", source.name)
		}
		if auth.Version == "" {
			auth.Version = found.Version
		}
		if auth.Client == "" {
			auth.Client = found.Client
		}
	}
	return auth, nil
}

// credentialReader reads the keys that all sources share: sentry_key, sentry_version,
// sentry_client. It ignores others (sentry_timestamp from Ruby, sentry_secret from legacy SDKs).
type credentialReader struct {
	source string
	auth   Auth // with the version as it was sent
	err    error
}

func (r *credentialReader) add(name, value string) {
	switch name {
	case "sentry_key":
		r.addKey(value)
	case "sentry_version":
		r.auth.Version = value
	case "sentry_client":
		r.auth.Client = value
	}
}

func (r *credentialReader) addKey(value string) {
	key, _, _ := strings.Cut(value, ":") // flags of another Relay: "abc:no-cache"
	switch {
	case key == "" || r.err != nil:
	case !ValidKey(key):
		r.err = authError(ReasonAuthBadKey, "public key of %d bytes in the %s, expected 1 to %d letters, digits, '_' or '-'",
			len(key), r.source, MaxKeyBytes)
	case r.auth.PublicKey != "" && r.auth.PublicKey != key:
		r.err = authError(ReasonAuthMultiple, "two public keys in the %s", r.source)
	default:
		r.auth.PublicKey = key
	}
}

// result returns what was read, with the number of the protocol version.
func (r *credentialReader) result() (Auth, error) {
	auth, version := r.auth, r.auth.Version
	auth.Version = ""
	if r.err != nil {
		return Auth{}, r.err
	}
	if auth.PublicKey == "" || version == "" {
		return auth, nil
	}
	number, _, _ := strings.Cut(version, ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n > ProtocolVersion {
		return Auth{}, authError(ReasonAuthBadVersion, "protocol version %.20q in the %s, expected at most %d", version, r.source, ProtocolVersion)
	}
	auth.Version = strconv.FormatUint(n, 10)
	return auth, nil
}

// sentryPairs reads "Sentry sentry_key=abc, sentry_version=7". The prefix is case-insensitive
// (Sentry's OTLP pages use lower case), and Java sends no blanks after commas. Headers with another
// prefix are not meant for Sentry and are ignored.
func sentryPairs(r *credentialReader, header string) {
	list, ok := cutScheme(header, "sentry")
	if !ok {
		return
	}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(pair, "=")
		r.add(strings.TrimSpace(key), strings.TrimSpace(value))
	}
}

// basicPairs reads "Basic base64(key:)". It ignores the password, and headers that cannot be
// decoded.
func basicPairs(r *credentialReader, header string) {
	encoded, ok := cutScheme(header, "basic")
	if !ok {
		return
	}
	decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return
	}
	user, _, _ := strings.Cut(string(decoded), ":")
	r.add("sentry_key", user)
}

// queryPairs reads
// "sentry_key=abc&sentry_version=7&sentry_client=sentry.javascript.node%2F10.75.3".
func queryPairs(r *credentialReader, query string) {
	if !strings.Contains(query, "sentry_") {
		return
	}
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		r.add(key, value)
	}
}

func pathPairs(r *credentialReader, key string) { r.add("sentry_key", key) }

// cutScheme returns the text after the scheme of an authorization header and reports whether the
// header has that scheme.
func cutScheme(header, scheme string) (rest string, ok bool) {
	header = strings.TrimSpace(header)
	if len(header) <= len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	if c := header[len(scheme)]; c != ' ' && c != '\t' {
		return "", false
	}
	return strings.TrimSpace(header[len(scheme):]), true
}

// ClientText returns an SDK as credentials name it, or "" if a header cannot contain it.
func ClientText(sdk ClientSDK) string {
	text := sdk.Name
	if sdk.Version != "" {
		text += "/" + sdk.Version
	}
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' || c == ',' || c == '"' {
			return ""
		}
	}
	return text
}

// Header returns the X-Sentry-Auth value for a.
func (a Auth) Header() string {
	header := "Sentry sentry_version=" + a.Version
	if a.Client != "" {
		header += ", sentry_client=" + a.Client
	}
	return header + ", sentry_key=" + a.PublicKey
}
