package sentry

// AppendSpans writes the payload of a span container (item_count = n) behind dst: the inverse of DecodeSpans. It takes as many
// of the spans as fit into maxBytes; n = 0 where not even the first one does, and dst then comes back as it was.
func AppendSpans(dst []byte, spans []StreamedSpan, maxBytes int) (_ []byte, n int) {
	const end = len("]}")
	before := len(dst)
	dst = append(dst, `{"items":[`...)
	for i := range spans {
		fits := len(dst)
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst = spans[i].append(dst); len(dst)+end-before > maxBytes {
			dst = dst[:fits]
			break
		}
		n++
	}
	if n == 0 {
		return dst[:before], 0
	}
	return append(dst, "]}"...), n
}

func (s *StreamedSpan) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendPresent(dst, "trace_id", s.TraceID)
	dst = appendPresent(dst, "span_id", s.SpanID)
	dst = appendText(dst, "parent_span_id", s.ParentSpanID)
	dst = appendPresent(dst, "name", s.Name)
	dst = appendPresent(dst, "status", s.Status)
	dst = appendText(dst, "kind", s.Kind)
	dst = appendFlag(dst, "is_segment", s.IsSegment)
	dst = appendFlag(dst, "is_remote", s.IsRemote)
	dst = appendTime(dst, "start_timestamp", s.Start)
	dst = appendTime(dst, "end_timestamp", s.End)
	dst = appendLinks(dst, s.Links)
	return append(appendAttributes(dst, s.Attributes), '}')
}

// appendMembers writes the members of a span as transactions and standalone items have it. Times come with those of the
// transaction where the span is its root.
func (s *Span) appendMembers(dst []byte) []byte {
	dst = appendPresent(dst, "trace_id", s.TraceID)
	dst = appendPresent(dst, "span_id", s.SpanID)
	dst = appendText(dst, "parent_span_id", s.ParentSpanID)
	dst = appendText(dst, "op", s.Op)
	dst = appendText(dst, "description", s.Description)
	dst = appendText(dst, "status", s.Status)
	dst = appendText(dst, "origin", s.Origin)
	dst = appendText(dst, "kind", s.Kind)
	dst = appendText(dst, "platform", s.Platform)
	if s.ExclusiveTime.Set {
		dst = appendFloat(appendKey(dst, "exclusive_time"), s.ExclusiveTime.Value)
	}
	dst = appendFlag(dst, "is_segment", s.IsSegment)
	dst = appendFlag(dst, "is_remote", s.IsRemote)
	dst = appendText(dst, "segment_id", s.SegmentID)
	dst = appendText(dst, "profile_id", s.ProfileID)
	dst = appendText(dst, "profiler_id", s.ProfilerID)
	dst = appendNamed(dst, "data", s.Data)
	dst = appendTags(dst, "tags", s.Tags)
	dst = appendMeasures(dst, s.Measurements)
	return appendLinks(dst, s.Links)
}

func appendTime(dst []byte, key string, t Timestamp) []byte {
	if !t.Set {
		return dst
	}
	return appendSeconds(appendKey(dst, key), t.UnixNano)
}

// appendNamed writes an object of values that are JSON already.
func appendNamed(dst []byte, key string, members []NamedValue) []byte {
	if len(members) == 0 {
		return dst
	}
	dst = append(appendKey(dst, key), '{')
	for i := range members {
		dst = appendRaw(dst, members[i].Name, members[i].Value)
	}
	return append(dst, '}')
}

func appendTags(dst []byte, key string, tags []Tag) []byte {
	if len(tags) == 0 {
		return dst
	}
	dst = append(appendKey(dst, key), '{')
	for i := range tags {
		dst = appendPresent(dst, tags[i].Key, tags[i].Value)
	}
	return append(dst, '}')
}

func appendMeasures(dst []byte, measures []NamedMeasure) []byte {
	if len(measures) == 0 {
		return dst
	}
	dst = append(appendKey(dst, "measurements"), '{')
	for i := range measures {
		dst = append(appendKey(dst, measures[i].Name), `{"value":`...)
		dst = appendFloat(dst, measures[i].Value)
		dst = append(appendText(dst, "unit", measures[i].Unit), '}')
	}
	return append(dst, '}')
}

// appendLinks writes links. Their attributes have types in containers, and none in transactions.
func appendLinks(dst []byte, links []SpanLink) []byte {
	if len(links) == 0 {
		return dst
	}
	dst = append(appendKey(dst, "links"), '[')
	for i := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendPresent(dst, "trace_id", links[i].TraceID)
		dst = appendPresent(dst, "span_id", links[i].SpanID)
		dst = appendFlag(dst, "sampled", links[i].Sampled)
		dst = append(appendAttributes(dst, links[i].Attributes), '}')
	}
	return append(dst, ']')
}

// appendAttributes writes typed attributes, and those without a type as bare values.
func appendAttributes(dst []byte, attributes []Attribute) []byte {
	if len(attributes) == 0 {
		return dst
	}
	dst = append(appendKey(dst, "attributes"), '{')
	for i := range attributes {
		a := &attributes[i]
		if a.Type == "" {
			dst = appendRaw(dst, a.Key, a.Value)
			continue
		}
		dst = append(appendKey(dst, a.Key), '{')
		dst = appendPresent(dst, "type", a.Type)
		dst = appendRaw(dst, "value", a.Value)
		dst = append(appendText(dst, "unit", a.Unit), '}')
	}
	return append(dst, '}')
}

// AppendJSONString writes text as a JSON string: what is not UTF-8 becomes U+FFFD.
func AppendJSONString(dst []byte, text string) []byte { return appendJSONText(dst, text) }

// AppendJSONFloat writes a finite number.
func AppendJSONFloat(dst []byte, f float64) []byte { return appendFloat(dst, f) }
