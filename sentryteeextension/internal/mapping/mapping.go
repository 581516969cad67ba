// SPDX-License-Identifier: Apache-2.0

package mapping

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Target replaces the project in a path, and the key in the path or query.
func (d *Destination) Target(target, key string) string {
	path, query, hasQuery := strings.Cut(target, "?")
	segments := strings.Split(path, "/")
	named := 0 // number of segments that are not empty
	for i, segment := range segments {
		if segment == "" {
			continue
		}
		switch named++; {
		case named == 2: // the segment after "api"
			segments[i] = d.dsn.ProjectID
		case named >= 4 && segment == key:
			segments[i] = d.dsn.PublicKey
		}
	}
	target = strings.Join(segments, "/")
	if !hasQuery {
		return target
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		if name, value, _ := strings.Cut(pair, "="); name == "sentry_key" {
			pairs[i] = "sentry_key=" + d.mapKey(value)
		}
	}
	return target + "?" + strings.Join(pairs, "&")
}

// mapKey replaces a key, which may be followed by flags: "abc:no-cache".
func (d *Destination) mapKey(value string) string {
	_, flags, has := strings.Cut(value, ":")
	if has {
		return d.dsn.PublicKey + ":" + flags
	}
	return d.dsn.PublicKey
}

// Credentials lists the headers that may contain the key of a project.
var Credentials = []string{"Authorization", "X-Sentry-Auth"}

// Header returns headers with the key replaced in credentials.
func (d *Destination) Header(header http.Header, key string) http.Header {
	changed := header.Clone()
	for _, name := range Credentials {
		for i, value := range changed[name] {
			changed[name][i] = d.mapCredentials(value, key)
		}
	}
	return changed
}

// mapCredentials replaces the key in "Sentry sentry_key=…, …" or "Basic base64(key:…)". Other
// credentials stay unchanged.
func (d *Destination) mapCredentials(value, key string) string {
	scheme, rest, _ := strings.Cut(value, " ")
	switch strings.ToLower(scheme) {
	case "sentry":
		pairs := strings.Split(rest, ",")
		for i, pair := range pairs {
			name, old, _ := strings.Cut(pair, "=")
			if strings.TrimSpace(name) == "sentry_key" {
				pairs[i] = name + "=" + d.mapKey(strings.TrimSpace(old))
			}
		}
		return scheme + " " + strings.Join(pairs, ",")
	case "basic":
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(rest), "="))
		if user, _, _ := strings.Cut(string(decoded), ":"); err == nil && user == key {
			return scheme + " " + base64.StdEncoding.EncodeToString([]byte(d.dsn.PublicKey+":"))
		}
	}
	return value
}

// EnvelopeEdits returns the changes to an envelope header: Sentry compares the DSN with the
// request, and uses the key in trace to find its rules for dynamic sampling.
func (d *Destination) EnvelopeEdits() []sentry.HeaderEdit {
	if !d.IsMapped() {
		return nil
	}
	return []sentry.HeaderEdit{{Key: "dsn", Value: d.dsn.String()}, {Key: "trace", Inner: "public_key", Value: d.dsn.PublicKey}}
}

// Back converts a path at Sentry to the corresponding path of ours, with our prefix and project;
// the client resolves it against the address that it uses. Addresses of other servers stay
// unchanged.
func (d *Destination) Back(location, prefix, project string) string {
	u, err := d.Base.Parse(location)
	if err != nil || u.Host != d.Base.Host {
		return location
	}
	path, ours := strings.CutPrefix(u.EscapedPath(), strings.TrimRight(d.Base.EscapedPath(), "/"))
	if !ours {
		return location
	}
	if d.IsMapped() {
		if rest, its := strings.CutPrefix(path, "/api/"+d.dsn.ProjectID+"/"); its {
			path = "/api/" + project + "/" + rest
		}
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return prefix + path
}
