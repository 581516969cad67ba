// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"encoding/base64"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Auth is who sends: what every form of credentials comes down to. Public keys are no secrets; they only tell senders apart.
//
// https://develop.sentry.dev/sdk/foundations/transport/authentication/
type Auth struct {
	PublicKey string
	ProjectID string // from the request path, else from the envelope's DSN (tunnels); "" where neither names one
	Version   string // of the protocol, a number up to ProtocolVersion, which is also the default
	Client    string // name/version of the SDK, e.g. sentry.python/2.68.0; "" if unsaid. Free text of the client's
}

// Credentials are the places of a request where credentials may be; "" = not there. The first five are the request's own.
type Credentials struct {
	SentryAuth    string // header X-Sentry-Auth: most backend SDKs
	Authorization string // header Authorization: the same as "Sentry …", or "Basic …" with the key as user name
	RawQuery      string // query of the URL: node and browsers (?sentry_key=…), to do without a CORS preflight
	PathKey       string // {sentry_key} segment of the URL: cron and unreal endpoints only
	ProjectID     string // {project_id} segment of the URL
	EnvelopeDSN   string // header field dsn of the envelope: all that is left behind a tunnel
}

// ProtocolVersion is the newest version of Sentry's protocol; raven-ruby still says 5.
const ProtocolVersion = 7

// Reasons for which credentials are refused, with the status that Relay answers.
const (
	ReasonAuthMissing        discard.Reason = "auth_missing"          // 401
	ReasonAuthMultiple       discard.Reason = "auth_multiple"         // 401
	ReasonAuthBadEnvelopeDSN discard.Reason = "auth_bad_envelope_dsn" // 401
	ReasonAuthBadKey         discard.Reason = "auth_bad_key"          // 400
	ReasonAuthBadVersion     discard.Reason = "auth_bad_version"      // 400
	ReasonAuthBadProject     discard.Reason = "auth_bad_project"      // 400
	ReasonAuthMismatch       discard.Reason = "auth_mismatch"         // 400
)

// AuthError says why credentials were refused. It repeats nothing of what stood where a password may have stood.
type AuthError struct {
	Reason discard.Reason
	Detail string
}

func (e *AuthError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

func authError(reason discard.Reason, format string, args ...any) *AuthError {
	return &AuthError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Authenticate finds out who sends, by Relay's rules (relay-server/src/extractors/request_meta.rs, envelope/mod.rs) with
// two exceptions, because here any key is good and a refusal loses data for good:
//   - the same key in two places of the request is fine, where Relay answers "multiple authorization payloads detected";
//     different keys are still refused;
//   - a place without a key says nothing, and a dsn in the envelope that is none counts only when there is nothing else.
//
// Whether the key may write to the project is for the caller to decide. The error is of type *AuthError.
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
	dsn, err := ParseDSN(c.EnvelopeDSN)
	switch {
	case err == nil:
		if err := auth.complete(dsn); err != nil {
			return Auth{}, err
		}
	case auth.PublicKey == "" && c.EnvelopeDSN != "":
		return Auth{}, authError(ReasonAuthBadEnvelopeDSN, "dsn in the envelope: %s", err)
	case auth.PublicKey == "":
		return Auth{}, authError(ReasonAuthMissing, "no sentry_key in the request and no dsn in the envelope")
	}
	if auth.Version == "" {
		auth.Version = strconv.Itoa(ProtocolVersion)
	}
	return auth, nil
}

// complete fills in what the DSN of the envelope says, which must not contradict the request: go, php, ruby and native
// send both.
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

// requestAuth merges what the places of the request say, in Relay's order; an empty key if none says anything.
func requestAuth(c Credentials) (Auth, error) {
	var auth Auth
	for _, place := range []struct {
		name  string
		pairs iter.Seq2[string, string]
	}{
		{"header X-Sentry-Auth", sentryPairs(c.SentryAuth)},
		{"header Authorization", sentryPairs(c.Authorization)},
		{"header Authorization", basicPairs(c.Authorization)},
		{"query", queryPairs(c.RawQuery)},
		{"path", pathPairs(c.PathKey)},
	} {
		found, err := readPairs(place.name, place.pairs)
		switch {
		case err != nil:
			return Auth{}, err
		case found.PublicKey == "":
			continue
		case auth.PublicKey == "":
			auth = found
		case auth.PublicKey != found.PublicKey:
			return Auth{}, authError(ReasonAuthMultiple, "a second public key in the %s", place.name)
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

// readPairs understands the vocabulary that all places share: sentry_key, sentry_version, sentry_client. The others
// (sentry_timestamp by ruby, sentry_secret by legacy SDKs) are not needed.
func readPairs(place string, pairs iter.Seq2[string, string]) (Auth, error) {
	var auth Auth
	var version string
	for name, value := range pairs {
		switch name {
		case "sentry_key":
			key, _, _ := strings.Cut(value, ":") // flags of another Relay: "abc:no-cache"
			switch {
			case key == "":
			case !ValidKey(key):
				return Auth{}, authError(ReasonAuthBadKey, "public key of %d bytes in the %s, expected 1 to %d letters, digits, '_' or '-'",
					len(key), place, MaxKeyBytes)
			case auth.PublicKey != "" && auth.PublicKey != key:
				return Auth{}, authError(ReasonAuthMultiple, "two public keys in the %s", place)
			default:
				auth.PublicKey = key
			}
		case "sentry_version":
			version = value
		case "sentry_client":
			auth.Client = value
		}
	}
	if auth.PublicKey == "" || version == "" {
		return auth, nil
	}
	number, _, _ := strings.Cut(version, ".")
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil || n > ProtocolVersion {
		return Auth{}, authError(ReasonAuthBadVersion, "protocol version %.20q in the %s, expected at most %d", version, place, ProtocolVersion)
	}
	auth.Version = strconv.FormatUint(n, 10)
	return auth, nil
}

// sentryPairs reads "Sentry sentry_key=abc, sentry_version=7". The prefix comes in any case (Sentry's own OTLP pages have
// it in lower case), java leaves no blanks after the commas. A header with another prefix is somebody else's.
func sentryPairs(header string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		list, ok := cutScheme(header, "sentry")
		if !ok {
			return
		}
		for pair := range strings.SplitSeq(list, ",") {
			key, value, _ := strings.Cut(pair, "=")
			if !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

// basicPairs reads "Basic base64(key:)". The password is not looked at; what does not decode is somebody else's.
func basicPairs(header string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		encoded, ok := cutScheme(header, "basic")
		if !ok {
			return
		}
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if err != nil {
			return
		}
		user, _, _ := strings.Cut(string(decoded), ":")
		yield("sentry_key", user)
	}
}

// queryPairs reads "sentry_key=abc&sentry_version=7&sentry_client=sentry.javascript.node%2F10.75.3".
func queryPairs(query string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		if !strings.Contains(query, "sentry_") {
			return
		}
		for pair := range strings.SplitSeq(query, "&") {
			key, value, _ := strings.Cut(pair, "=")
			if text, err := url.QueryUnescape(value); err == nil {
				value = text
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

func pathPairs(key string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) { yield("sentry_key", key) }
}

// cutScheme gives what follows the scheme of an authorization header, if it is that scheme's.
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

// Header is the value of X-Sentry-Auth: the inverse of what Authenticate reads there.
func (a Auth) Header() string {
	header := "Sentry sentry_version=" + a.Version
	if a.Client != "" {
		header += ", sentry_client=" + a.Client
	}
	return header + ", sentry_key=" + a.PublicKey
}
