// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

// AppendTransaction appends the payload of a "transaction" item to dst. It is the inverse of
// DecodeTransaction. It writes as many spans, in order, as fit into maxBytes and returns their
// number; the caller sends the others in a container. If the transaction does not fit even without
// spans, ok is false and dst is returned unchanged.
//
// The root and its times are required. Event fields that have no meaning for spans (level, message,
// exceptions, threads) are not written.
func AppendTransaction(dst []byte, t *Transaction, maxBytes int) (_ []byte, spans int, ok bool) {
	const end = len("]}")
	before := len(dst)
	dst = t.appendHead(dst)
	dst = append(dst, `,"spans":[`...)
	if len(dst)+end-before > maxBytes {
		return dst[:before], 0, false
	}
	for i := range t.Spans {
		fits := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendTime(dst, "start_timestamp", t.Spans[i].Start)
		dst = appendTime(dst, "timestamp", t.Spans[i].End)
		dst = append(t.Spans[i].appendMembers(dst), '}')
		if len(dst)+end-before > maxBytes {
			dst = dst[:fits]
			break
		}
		spans++
	}
	return append(dst, "]}"...), spans, true
}

func (t *Transaction) appendHead(dst []byte) []byte {
	dst = append(dst, `{"type":"transaction"`...)
	dst = jsonscan.AppendText(dst, "event_id", t.EventID)
	dst = jsonscan.AppendText(dst, "transaction", t.Transaction)
	if t.Source != "" {
		dst = append(jsonscan.AppendKey(dst, "transaction_info"), '{')
		dst = append(jsonscan.AppendTextAlways(dst, "source", t.Source), '}')
	}
	dst = appendTime(dst, "start_timestamp", t.Root.Start)
	dst = appendTime(dst, "timestamp", t.Root.End)
	dst = jsonscan.AppendText(dst, "platform", t.Platform)
	dst = jsonscan.AppendText(dst, "release", t.Release)
	dst = jsonscan.AppendText(dst, "dist", t.Dist)
	dst = jsonscan.AppendText(dst, "environment", t.Environment)
	dst = jsonscan.AppendText(dst, "server_name", t.ServerName)
	dst = jsonscan.AppendText(dst, "logger", t.Logger)
	dst = appendSDK(dst, t.SDK)
	dst = appendTags(dst, "tags", t.Tags)
	dst = appendTexts(dst, "fingerprint", t.Fingerprint)
	dst = appendNamed(dst, "user", t.User)
	dst = t.Request.append(dst)
	dst = appendBreadcrumbs(dst, t.Breadcrumbs)
	dst = jsonscan.AppendRaw(dst, "modules", t.Modules)
	dst = jsonscan.AppendRaw(dst, "extra", t.Extra)
	dst = appendMeasures(dst, t.Measurements)
	return t.appendContexts(dst)
}

func (t *Transaction) appendContexts(dst []byte) []byte {
	dst = append(jsonscan.AppendKey(dst, "contexts"), `{"trace":{`...)
	dst = append(t.Root.appendMembers(dst), '}')
	if t.ProfileID != "" || t.ProfilerID != "" {
		dst = append(jsonscan.AppendKey(dst, "profile"), '{')
		dst = jsonscan.AppendText(dst, "profile_id", t.ProfileID)
		dst = append(jsonscan.AppendText(dst, "profiler_id", t.ProfilerID), '}')
	}
	for i := range t.Contexts {
		dst = t.Contexts[i].append(dst)
	}
	return append(dst, '}')
}

func appendTexts(dst []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendJSONText(dst, text)
	}
	return append(dst, ']')
}

func (r *HTTPRequest) append(dst []byte) []byte {
	if r == nil {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "request"), '{')
	dst = jsonscan.AppendText(dst, "url", r.URL)
	dst = jsonscan.AppendText(dst, "method", r.Method)
	dst = jsonscan.AppendRaw(dst, "query_string", r.QueryString)
	dst = jsonscan.AppendText(dst, "fragment", r.Fragment)
	dst = appendTags(dst, "headers", r.Headers)
	dst = jsonscan.AppendRaw(dst, "cookies", r.Cookies)
	dst = jsonscan.AppendRaw(dst, "env", r.Env)
	return append(jsonscan.AppendRaw(dst, "data", r.Data), '}')
}

func appendBreadcrumbs(dst []byte, crumbs []Breadcrumb) []byte {
	if len(crumbs) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "breadcrumbs"), `{"values":[`...)
	for i := range crumbs {
		b := &crumbs[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendTime(dst, "timestamp", b.Timestamp)
		dst = jsonscan.AppendText(dst, "type", b.Type)
		dst = jsonscan.AppendText(dst, "category", b.Category)
		dst = jsonscan.AppendText(dst, "level", b.Level)
		dst = jsonscan.AppendText(dst, "message", b.Message)
		dst = jsonscan.AppendText(dst, "event_id", b.EventID)
		dst = append(jsonscan.AppendRaw(dst, "data", b.Data), '}')
	}
	return append(dst, "]}"...)
}
