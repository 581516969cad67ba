// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"net/netip"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Ingest completes items with the address and the user agent of their request, if the SDK asks for
// it. Only the receiver sees that request: later components send their own.

// autoAddress stands for the address of the client.
const autoAddress = "{{auto}}"

// userAddress returns the address that ingest would set for the user of an event or a transaction,
// "" if none (relay-event-normalization/src/event.rs, normalize_ip_addresses).
func userAddress(e *event.ErrorEvent, src Source) string {
	stated := attr.PlainText(event.Member(e.User, "ip_address"))
	setting := e.SDK.InferIP()
	if setting == event.InferNever || stated != "" && stated != autoAddress {
		return ""
	}
	// The address of a request that the application served precedes that of the application.
	served := remoteAddress(e.Request)
	if setting == event.InferAuto || stated == autoAddress {
		return attr.FirstText(served, src.ClientAddress)
	}
	switch e.Platform {
	case "javascript", "cocoa", "objc": // their SDKs meant {{auto}} without stating it
		if served == "" && !removedAddress(e) {
			return src.ClientAddress
		}
	}
	return served
}

// remoteAddress returns the address in the environment of a request, "" if it is not one.
func remoteAddress(r *event.HTTPRequest) string {
	if r == nil || len(r.Env) == 0 {
		return ""
	}
	var env struct {
		Address string `json:"REMOTE_ADDR"`
	}
	if json.Unmarshal(r.Env, &env) != nil {
		return ""
	}
	if _, err := netip.ParseAddr(env.Address); err != nil {
		return ""
	}
	return env.Address
}

// removedAddress reports whether the SDK says that it removed the address.
func removedAddress(e *event.ErrorEvent) bool {
	var meta struct {
		User struct {
			Address json.RawMessage `json:"ip_address"`
		} `json:"user"`
	}
	sent := event.Member(e.Rest, "_meta")
	return sent != nil && json.Unmarshal(sent, &meta) == nil && len(meta.User.Address) > 0
}

// inference contains the attributes that an SDK asks the server to add to the elements of a
// container.
type inference struct {
	address, userAgent bool

	completed int    // elements so far
	text      string // the user agent, shared by the elements
}

func inferenceOf(address, userAgent bool) *inference {
	return &inference{address: address, userAgent: userAgent}
}

// maxCompleted bounds the copies of the user agent in the output. SDKs send at most 1,000 elements
// in a container.
const maxCompleted = 1000

// complete completes the attributes of an element of a container
// (relay-event-normalization/src/eap/mod.rs, normalize_client_address and the two after it). It
// reads attrs and adds to the map to, which may be the same.
func (i *inference) complete(attrs, to pcommon.Map, src Source) {
	address, stated := attrs.Get(semconv.ClientAddress)
	auto := stated && address.AsString() == autoAddress
	if auto {
		attrs.Remove(semconv.ClientAddress)
	}
	if (i.address && !stated || auto) && src.IncludePII {
		attr.PutText(to, semconv.ClientAddress, src.ClientAddress)
	}
	if !i.userAgent || !isBrowser(src.UserAgent) || i.completed == maxCompleted {
		return
	}
	for _, key := range []string{semconv.UserAgentOriginal, semconv.BrowserName, semconv.BrowserVersion} {
		if _, stated := attrs.Get(key); stated {
			return
		}
	}
	if i.completed == 0 {
		i.text = strings.Clone(attr.Clip(src.UserAgent, maxUserAgent))
	}
	i.completed++
	attr.PutShared(to, semconv.UserAgentOriginal, i.text)
}

// maxUserAgent is the maximum size of a user agent. Those of in-app browsers have up to 400 bytes.
const maxUserAgent = 512

// isBrowser reports whether a user agent is a user's. Ingest also sets the user agents of SDKs on
// servers, such as sentry.python/2.68.0, which say nothing about the user.
func isBrowser(userAgent string) bool {
	return strings.HasPrefix(userAgent, "Mozilla/") || strings.HasPrefix(userAgent, "Opera/")
}
