// SPDX-License-Identifier: Apache-2.0

package configcheckconverter

import (
	"fmt"
	"net"
	"strings"
)

// setting is a setting with the address of a listener.
type setting struct {
	path    string // of keys, below the component
	address string // the default; "" means no listener
}

// listeners are the listeners of the components of the distribution. A listener in a section below
// the component's needs the section.
var listeners = map[string][]setting{
	"receivers/sentry":         {{"endpoint", "localhost:4319"}, {"spotlight::endpoint", ""}},
	"receivers/measure":        {{"endpoint", "localhost:4320"}},
	"receivers/otlp":           {{"protocols::grpc::endpoint", "localhost:4317"}, {"protocols::http::endpoint", "localhost:4318"}},
	"processors/symbolicate":   {{"uploads::endpoint", ""}},
	"exporters/profile_viewer": {{"endpoint", "localhost:4321"}},
	"extensions/health_check":  {{"endpoint", "localhost:13133"}},
	"extensions/pprof":         {{"endpoint", "localhost:1777"}},
	"extensions/zpages":        {{"endpoint", "localhost:55679"}},
}

// telemetryAddress is where the collector offers its own metrics.
const telemetryAddress = "localhost:8888"

// listening is an address in use, and the setting that has it.
type listening struct{ host, port, address, path string }

// clashes returns an error for each listener whose address an earlier one has.
func clashes(whole map[string]any, used []component) (problems []error) {
	var taken []listening
	add := func(path, address string) {
		host, port, err := net.SplitHostPort(address)
		if err != nil || port == "0" {
			return
		}
		l := listening{normalHost(host), port, address, path}
		for _, other := range taken {
			if l.port == other.port && (l.host == other.host || l.includes(other.host) || other.includes(l.host)) {
				problems = append(problems, fmt.Errorf("%s: is %s, but %s listens on %s; use another port", path, address, other.path, other.address))
				return
			}
		}
		taken = append(taken, l)
	}
	level, _ := at(whole, "service", "telemetry", "metrics", "level").(string)
	if !strings.EqualFold(level, "none") && at(whole, "service", "telemetry", "metrics", "readers") == nil {
		add("service::telemetry::metrics (the default)", telemetryAddress)
	}
	for _, c := range used {
		for _, l := range listeners[c.kind()] {
			keys := strings.Split(l.path, "::")
			section, key := keys[:len(keys)-1], keys[len(keys)-1]
			if len(section) > 0 {
				if _, has := mapAt(c.settings, section[:len(section)-1]...)[section[len(section)-1]]; !has {
					continue
				}
			}
			address, set := at(c.settings, keys...).(string)
			if !set && at(c.settings, keys...) == nil {
				address = l.address
			}
			add(c.path()+"::"+strings.Join(append(section, key), "::"), address)
		}
	}
	return problems
}

// includes reports whether a listener has the address of another host, too. The one of all IPv4
// addresses has none of IPv6.
func (l listening) includes(host string) bool {
	return l.host == "" || l.host == allIPv4 && !strings.Contains(host, ":")
}

const allIPv4 = "0.0.0.0"

// normalHost returns the same text for hosts with the same addresses; "" for all addresses.
func normalHost(host string) string {
	switch ip := net.ParseIP(host); {
	case strings.EqualFold(host, "localhost"):
		return "127.0.0.1"
	case ip == nil:
		return strings.ToLower(host)
	case ip.IsUnspecified() && ip.To4() == nil:
		return ""
	default:
		return ip.String()
	}
}
