package sentry

// AppendTransaction writes the payload of a "transaction" item behind dst: the inverse of DecodeTransaction. It takes as many of
// the spans, in their order, as fit into maxBytes; the others have to be sent in a container. Not ok: not even the transaction
// without its spans fits; dst then comes back as it was.
//
// The root must be there, with its times. Not written is what is an event's and says nothing of a span: level, message,
// exceptions, threads.
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
	dst = appendText(dst, "event_id", t.EventID)
	dst = appendText(dst, "transaction", t.Transaction)
	if t.Source != "" {
		dst = append(appendKey(dst, "transaction_info"), '{')
		dst = append(appendPresent(dst, "source", t.Source), '}')
	}
	dst = appendTime(dst, "start_timestamp", t.Root.Start)
	dst = appendTime(dst, "timestamp", t.Root.End)
	dst = appendText(dst, "platform", t.Platform)
	dst = appendText(dst, "release", t.Release)
	dst = appendText(dst, "dist", t.Dist)
	dst = appendText(dst, "environment", t.Environment)
	dst = appendText(dst, "server_name", t.ServerName)
	dst = appendText(dst, "logger", t.Logger)
	if t.SDK != (ClientSDK{}) {
		dst = append(appendKey(dst, "sdk"), '{')
		dst = appendText(dst, "name", t.SDK.Name)
		dst = append(appendText(dst, "version", t.SDK.Version), '}')
	}
	dst = appendTags(dst, "tags", t.Tags)
	dst = appendTexts(dst, "fingerprint", t.Fingerprint)
	dst = appendNamed(dst, "user", t.User)
	dst = t.Request.append(dst)
	dst = appendBreadcrumbs(dst, t.Breadcrumbs)
	dst = appendRaw(dst, "modules", t.Modules)
	dst = appendRaw(dst, "extra", t.Extra)
	dst = appendMeasures(dst, t.Measurements)
	return t.appendContexts(dst)
}

func (t *Transaction) appendContexts(dst []byte) []byte {
	dst = append(appendKey(dst, "contexts"), `{"trace":{`...)
	dst = append(t.Root.appendMembers(dst), '}')
	if t.ProfileID != "" || t.ProfilerID != "" {
		dst = append(appendKey(dst, "profile"), '{')
		dst = appendText(dst, "profile_id", t.ProfileID)
		dst = append(appendText(dst, "profiler_id", t.ProfilerID), '}')
	}
	for _, context := range t.Contexts {
		dst = appendRaw(dst, context.Name, context.Value)
	}
	return append(dst, '}')
}

func appendTexts(dst []byte, key string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(appendKey(dst, key), '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONText(dst, text)
	}
	return append(dst, ']')
}

func (r *HTTPRequest) append(dst []byte) []byte {
	if r == nil {
		return dst
	}
	dst = append(appendKey(dst, "request"), '{')
	dst = appendText(dst, "url", r.URL)
	dst = appendText(dst, "method", r.Method)
	dst = appendRaw(dst, "query_string", r.QueryString)
	dst = appendText(dst, "fragment", r.Fragment)
	dst = appendTags(dst, "headers", r.Headers)
	dst = appendRaw(dst, "cookies", r.Cookies)
	dst = appendRaw(dst, "env", r.Env)
	return append(appendRaw(dst, "data", r.Data), '}')
}

func appendBreadcrumbs(dst []byte, crumbs []Breadcrumb) []byte {
	if len(crumbs) == 0 {
		return dst
	}
	dst = append(appendKey(dst, "breadcrumbs"), `{"values":[`...)
	for i := range crumbs {
		b := &crumbs[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendTime(dst, "timestamp", b.Timestamp)
		dst = appendText(dst, "type", b.Type)
		dst = appendText(dst, "category", b.Category)
		dst = appendText(dst, "level", b.Level)
		dst = appendText(dst, "message", b.Message)
		dst = appendText(dst, "event_id", b.EventID)
		dst = append(appendRaw(dst, "data", b.Data), '}')
	}
	return append(dst, "]}"...)
}
