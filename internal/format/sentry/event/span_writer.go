// SPDX-License-Identifier: Apache-2.0

package event

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"

func (s *StreamedSpan) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = jsonscan.AppendTextAlways(dst, "trace_id", s.TraceID)
	dst = jsonscan.AppendTextAlways(dst, "span_id", s.SpanID)
	dst = jsonscan.AppendText(dst, "parent_span_id", s.ParentSpanID)
	dst = jsonscan.AppendTextAlways(dst, "name", s.Name)
	dst = jsonscan.AppendTextAlways(dst, "status", s.Status)
	dst = jsonscan.AppendText(dst, "kind", s.Kind)
	dst = jsonscan.AppendFlag(dst, "is_segment", s.IsSegment)
	dst = jsonscan.AppendFlag(dst, "is_remote", s.IsRemote)
	dst = appendTime(dst, "start_timestamp", s.Start)
	dst = appendTime(dst, "end_timestamp", s.End)
	dst = appendLinks(dst, s.Links)
	return append(appendAttributes(dst, s.Attributes, nil), '}')
}

// appendMembers writes the members of a span of a transaction, except for its times, because the
// transaction itself has the times of its root.
func (s *Span) appendMembers(dst []byte) []byte {
	dst = jsonscan.AppendTextAlways(dst, "trace_id", s.TraceID)
	dst = jsonscan.AppendTextAlways(dst, "span_id", s.SpanID)
	dst = jsonscan.AppendText(dst, "parent_span_id", s.ParentSpanID)
	dst = jsonscan.AppendText(dst, "op", s.Op)
	dst = jsonscan.AppendText(dst, "description", s.Description)
	dst = jsonscan.AppendText(dst, "status", s.Status)
	dst = jsonscan.AppendText(dst, "origin", s.Origin)
	dst = jsonscan.AppendText(dst, "kind", s.Kind)
	dst = jsonscan.AppendText(dst, "platform", s.Platform)
	if s.ExclusiveTime.Set {
		dst = jsonscan.AppendFloat(jsonscan.AppendKey(dst, "exclusive_time"), s.ExclusiveTime.Value)
	}
	dst = jsonscan.AppendFlag(dst, "is_segment", s.IsSegment)
	dst = jsonscan.AppendFlag(dst, "is_remote", s.IsRemote)
	dst = jsonscan.AppendText(dst, "segment_id", s.SegmentID)
	dst = jsonscan.AppendText(dst, "profile_id", s.ProfileID)
	dst = jsonscan.AppendText(dst, "profiler_id", s.ProfilerID)
	dst = appendNamed(dst, "data", s.Data)
	dst = appendTags(dst, "tags", s.Tags)
	dst = appendMeasures(dst, s.Measurements)
	return appendLinks(dst, s.Links)
}

func appendTime(dst []byte, key string, t jsonscan.Timestamp) []byte {
	if !t.Set {
		return dst
	}
	return jsonscan.AppendSeconds(jsonscan.AppendKey(dst, key), t.UnixNano)
}

// appendNamed writes an object of JSON values.
func appendNamed(dst []byte, key string, members []NamedValue) []byte {
	if len(members) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '{')
	for i := range members {
		dst = members[i].append(dst)
	}
	return append(dst, '}')
}

// append appends the member. It appends nothing if the value is empty.
func (v *NamedValue) append(dst []byte) []byte {
	if len(v.Value) == 0 {
		return dst
	}
	return append(jsonscan.AppendName(dst, v.Name), v.Value...)
}

func appendTags(dst []byte, key string, tags []Tag) []byte {
	if len(tags) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, key), '{')
	for i := range tags {
		dst = jsonscan.AppendJSONText(jsonscan.AppendName(dst, tags[i].Key), tags[i].Value)
	}
	return append(dst, '}')
}

func appendMeasures(dst []byte, measures []NamedMeasure) []byte {
	if len(measures) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "measurements"), '{')
	for i := range measures {
		dst = append(jsonscan.AppendName(dst, measures[i].Name), `{"value":`...)
		dst = jsonscan.AppendFloat(dst, measures[i].Value)
		dst = append(jsonscan.AppendText(dst, "unit", measures[i].Unit), '}')
	}
	return append(dst, '}')
}

// appendLinks writes links. Only in containers do their attributes have types.
func appendLinks(dst []byte, links []SpanLink) []byte {
	if len(links) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "links"), '[')
	for i := range links {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = jsonscan.AppendTextAlways(dst, "trace_id", links[i].TraceID)
		dst = jsonscan.AppendTextAlways(dst, "span_id", links[i].SpanID)
		dst = jsonscan.AppendFlag(dst, "sampled", links[i].Sampled)
		dst = append(appendAttributes(dst, links[i].Attributes, nil), '}')
	}
	return append(dst, ']')
}

// appendAttributes writes typed attributes, attributes without a type as bare values, and members
// that are JSON already.
func appendAttributes(dst []byte, attributes []Attribute, shared []byte) []byte {
	if len(attributes)+len(shared) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "attributes"), '{')
	dst = AppendMembers(dst, attributes)
	if len(attributes) > 0 && len(shared) > 0 {
		dst = append(dst, ',')
	}
	return append(append(dst, shared...), '}')
}

// AppendMembers appends attributes as members of the object at the end of dst.
func AppendMembers(dst []byte, attributes []Attribute) []byte {
	for i := range attributes {
		a := &attributes[i]
		if a.Type == "" {
			dst = (&NamedValue{a.Key, a.Value}).append(dst)
			continue
		}
		dst = append(jsonscan.AppendName(dst, a.Key), '{')
		dst = jsonscan.AppendTextAlways(dst, "type", a.Type)
		dst = jsonscan.AppendRaw(dst, "value", a.Value)
		dst = append(jsonscan.AppendText(dst, "unit", a.Unit), '}')
	}
	return dst
}
