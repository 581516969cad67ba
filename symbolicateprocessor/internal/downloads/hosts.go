// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"errors"
	"net/url"
	"strings"
)

// hosts is an allow list of servers.
type hosts struct {
	exact     map[string]bool
	suffixes  []string // ".example.com" for the pattern "*.example.com"
	plainHTTP bool
}

// anySubdomain starts the patterns that match all subdomains, but not the domain itself.
const anySubdomain = "*."

func newHosts(patterns []string, plainHTTP bool) *hosts {
	h := &hosts{exact: map[string]bool{}, plainHTTP: plainHTTP}
	for _, pattern := range patterns {
		pattern = strings.ToLower(pattern)
		if suffix, is := strings.CutPrefix(pattern, anySubdomain); is {
			h.suffixes = append(h.suffixes, "."+suffix)
		} else {
			h.exact[pattern] = true
		}
	}
	return h
}

// allow reports whether requests may go to a URL. A pattern without a port allows the standard port
// only: others may belong to internal services.
func (h *hosts) allow(u *url.URL) bool {
	host := strings.ToLower(u.Host)
	switch {
	case u.Host == "" || u.User != nil:
		return false
	case u.Scheme == "https":
		host = strings.TrimSuffix(host, ":443")
	case u.Scheme == "http" && h.plainHTTP:
		host = strings.TrimSuffix(host, ":80")
	default:
		return false
	}
	if h.exact[host] {
		return true
	}
	for _, suffix := range h.suffixes {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// CheckHost checks a pattern of the allow list.
func CheckHost(pattern string) error {
	name := strings.TrimPrefix(pattern, anySubdomain)
	u, err := url.Parse("https://" + name)
	switch {
	case err != nil || u.Host != name || name == "" || strings.ContainsAny(name, "*@"):
		return errors.New(`must be a host without scheme and path, e.g. cdn.example.com, *.example.com or localhost:8443`)
	case name != pattern && !strings.Contains(name, "."):
		return errors.New(`allows a whole top-level domain, must have at least two labels, e.g. *.example.com`)
	}
	return nil
}

// CheckServer checks the URL of a debuginfod server.
func CheckServer(text string, plainHTTP bool) error {
	u, err := url.Parse(text)
	if err != nil || !newHosts([]string{hostOf(text)}, plainHTTP).allow(u) {
		return errors.New("must be an https URL without credentials, e.g. https://debuginfod.example.com; for http, set downloads::allow_http")
	}
	return nil
}

// hostOf returns the pattern that allows the host of a URL.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(u.Host, ":443")
	if u.Scheme == "http" {
		host = strings.TrimSuffix(u.Host, ":80")
	}
	return host
}
