// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Field is a row of an attribute table: the attribute that states a field of an object of Sentry's
// schema, in both directions. The names of the fields are those of event.Table.
type Field struct {
	Key      string // of the attribute
	Field    string // of the object
	Personal bool   // only with Source.IncludePII
}

// Fields is an attribute table.
type Fields struct {
	Rows    []Field
	byField jsonscan.Words[*Field]
	byKey   jsonscan.Words[*Field]
}

func newFields(rows ...Field) *Fields {
	f := &Fields{Rows: rows}
	for i := range rows {
		f.byField.Put(rows[i].Field, &rows[i])
		f.byKey.Put(rows[i].Key, &rows[i])
	}
	return f
}

// Has reports whether an attribute is in the table.
func (f *Fields) Has(key string) bool { _, ok := f.byKey.Get(key); return ok }

// KeyOf returns the attribute of a field, or "".
func (f *Fields) KeyOf(field string) string {
	if row, ok := f.byField.Get(field); ok {
		return row.Key
	}
	return ""
}

// FieldOf returns the field of an attribute, or "".
func (f *Fields) FieldOf(key string) string {
	if row, ok := f.byKey.Get(key); ok {
		return row.Field
	}
	return ""
}

// Put sets the attributes of the fields that are set and in the attribute table.
func Put[T any](attrs pcommon.Map, fields *Fields, table *event.Table[T], from *T, includePII bool) {
	put(table, from, putter{attrs, fields, includePII})
}

// PutMembers sets all fields under their own names, in a map that is a copy of the object.
func PutMembers[T any](m pcommon.Map, table *event.Table[T], from *T) {
	put(table, from, putter{m, nil, true})
}

func put[T any](table *event.Table[T], from *T, as putter) {
	p := putters.Get().(*putter)
	*p = as
	table.Visit(from, p)
	*p = putter{}
	putters.Put(p)
}

// putters are reused, because each of a thousand spans and frames needs one.
var putters = sync.Pool{New: func() any { return new(putter) }}

// Taker sets the fields of an item that attributes state. An attribute needs one lookup, however
// many objects the item has.
type Taker[T any] struct {
	fields jsonscan.Words[func(*T, event.Source)]
}

// NewTaker returns a Taker of objects and their parts.
func NewTaker[T any](parts ...func(*Taker[T])) *Taker[T] {
	t := &Taker[T]{}
	for _, add := range parts {
		add(t)
	}
	return t
}

// FieldsOf is a table of attributes for a Taker.
func FieldsOf[T any](fields *Fields, table *event.Table[T]) func(*Taker[T]) {
	return func(t *Taker[T]) {
		for _, row := range fields.Rows {
			if set := table.Setter(row.Field); set != nil {
				t.fields.Put(row.Key, set)
			}
		}
	}
}

// PartOf is a table of attributes of an object that is a part of the item.
func PartOf[T, U any](fields *Fields, table *event.Table[U], at func(*T) *U) func(*Taker[T]) {
	return func(t *Taker[T]) {
		for _, row := range fields.Rows {
			if set := table.Setter(row.Field); set != nil {
				t.fields.Put(row.Key, func(t *T, s event.Source) { set(at(t), s) })
			}
		}
	}
}

// Has reports whether an attribute is in a table.
func (t *Taker[T]) Has(key string) bool {
	_, ok := t.fields.Get(key)
	return ok
}

// Take sets the field that an attribute states. It reports whether the attribute is in a table.
func (t *Taker[T]) Take(into *T, key string, value pcommon.Value, scratch *Scratch) bool {
	set, ok := t.fields.Get(key)
	if ok {
		set(into, scratch.source(value))
	}
	return ok
}

// TakeMembers sets the fields with the names of members. It is the inverse of PutMembers. Without
// rest, it ignores fields that are only carried.
func TakeMembers[T any](into *T, table *event.Table[T], m pcommon.Map, scratch *Scratch, rest bool) {
	for name, value := range m.All() {
		table.Set(into, name, scratch.source(value), rest)
	}
}

// putter is the event.Visitor that sets attributes.
type putter struct {
	attrs      pcommon.Map
	fields     *Fields // nil = the names of the fields
	includePII bool
}

// key returns the attribute of a field, or "" if it has none.
func (p *putter) key(name string) string {
	if p.fields == nil {
		return name
	}
	if field, ok := p.fields.byField.Get(name); ok && (p.includePII || !field.Personal) {
		return field.Key
	}
	return ""
}

func (p *putter) Text(name, text string) {
	if key := p.key(name); key != "" {
		p.attrs.PutStr(key, text) // the decoder's copy
	}
}

func (p *putter) ID(name, text string) {
	if key := p.key(name); key != "" {
		PutDecimal(p.attrs, key, text)
	}
}

func (p *putter) Flag(name string, flag bool) {
	if key := p.key(name); key != "" {
		p.attrs.PutBool(key, flag)
	}
}

func (p *putter) Int(name string, number int64) {
	if key := p.key(name); key != "" {
		p.attrs.PutInt(key, number)
	}
}

func (p *putter) Float(name string, number float64) {
	if key := p.key(name); key != "" {
		p.attrs.PutDouble(key, number)
	}
}

func (p *putter) Address(name string, address uint64) {
	if key := p.key(name); key != "" {
		p.attrs.PutStr(key, AddressText(address))
	}
}

// Time does nothing: the span, the record or the entry has the time, which may be corrected.
func (p *putter) Time(string, jsonscan.Timestamp) {}

func (p *putter) Texts(name string, texts []string) {
	key := p.key(name)
	if key == "" {
		return
	}
	list := p.attrs.PutEmptySlice(key)
	list.EnsureCapacity(len(texts))
	for _, text := range texts {
		list.AppendEmpty().SetStr(text)
	}
}

func (p *putter) JSON(name string, json []byte) {
	if key := p.key(name); key != "" {
		PutRaw(p.attrs, key, json)
	}
}

// IsFinite reports whether a number has a JSON form.
func IsFinite(number float64) bool { return !math.IsNaN(number) && !math.IsInf(number, 0) }

// AddressText returns an address as Sentry writes it.
func AddressText(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }

// fieldSource is the event.Source of an attribute. It is the scratch, because another object would
// need an allocation for each attribute.
type fieldSource Scratch

func (s *Scratch) source(value pcommon.Value) *fieldSource {
	s.value = value
	return (*fieldSource)(s)
}

func (s *fieldSource) Text(string) string    { return s.value.AsString() }
func (s *fieldSource) ID(string) string      { return s.value.AsString() }
func (s *fieldSource) UUID(string) string    { return s.value.AsString() }
func (s *fieldSource) TraceID(string) string { return s.value.AsString() }
func (s *fieldSource) SpanID(string) string  { return s.value.AsString() }

func (s *fieldSource) Flag(string) jsonscan.Optional[bool] {
	return jsonscan.Optional[bool]{Value: s.value.Bool(), Set: s.value.Type() == pcommon.ValueTypeBool}
}

func (s *fieldSource) Int(string) jsonscan.Optional[int64] {
	return jsonscan.Optional[int64]{Value: s.value.Int(), Set: s.value.Type() == pcommon.ValueTypeInt}
}

func (s *fieldSource) Float(string) jsonscan.Optional[float64] {
	switch s.value.Type() {
	case pcommon.ValueTypeDouble:
		return jsonscan.Optional[float64]{Value: s.value.Double(), Set: IsFinite(s.value.Double())}
	case pcommon.ValueTypeInt:
		return jsonscan.Some(float64(s.value.Int()))
	}
	return jsonscan.Optional[float64]{}
}

func (s *fieldSource) Lineno(string) uint32 { return uint32(s.value.Int()) }

func (s *fieldSource) Address(string) jsonscan.Address {
	return addressOf(s.value)
}

func addressOf(value pcommon.Value) jsonscan.Address {
	number, err := strconv.ParseUint(strings.TrimPrefix(value.AsString(), "0x"), 16, 64)
	return jsonscan.Address{Value: number, Set: err == nil}
}

// Time reads Unix nanoseconds.
func (s *fieldSource) Time(string) jsonscan.Timestamp {
	nanos := s.value.Int()
	return jsonscan.Timestamp{UnixNano: uint64(nanos), Set: nanos > 0}
}

func (s *fieldSource) Texts(string) (texts []string) {
	if s.value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, element := range s.value.Slice().All() {
		texts = append(texts, element.AsString())
	}
	return texts
}

// JSON returns the value as JSON, if it has the kind. An object of more than MaxMembers members is
// JSON text, which is written as the object that it was.
func (s *fieldSource) JSON(kind event.Kind, _ string) []byte {
	return (*Scratch)(s).OfKind(kind, s.value)
}

// OfKind returns a value as JSON, or nil if it is not of the kind of a field.
func (s *Scratch) OfKind(kind event.Kind, value pcommon.Value) []byte {
	before := s.room()
	text := AppendOfKind(before, kind, value)
	if len(text) == len(before) {
		return nil
	}
	return s.add(text)
}

// AppendOfKind appends a value as JSON. It appends nothing if the value is not of the kind.
func AppendOfKind(dst []byte, kind event.Kind, value pcommon.Value) []byte {
	switch kind {
	case event.KindText, event.KindID:
		content := value.Str()
		if content == "" {
			content = value.AsString() // of another type
		}
		if content != "" {
			return jsonscan.AppendJSONText(dst, content)
		}
	case event.KindFlag:
		if value.Type() == pcommon.ValueTypeBool {
			return strconv.AppendBool(dst, value.Bool())
		}
	case event.KindInt:
		if value.Type() == pcommon.ValueTypeInt {
			return strconv.AppendInt(dst, value.Int(), 10)
		}
	case event.KindCount:
		if value.Type() == pcommon.ValueTypeInt && value.Int() >= 0 {
			return strconv.AppendInt(dst, value.Int(), 10)
		}
	case event.KindPosition:
		if number := uint32(value.Int()); number != 0 {
			return strconv.AppendUint(dst, uint64(number), 10)
		}
	case event.KindAddress:
		if a := addressOf(value); a.Set {
			return append(strconv.AppendUint(append(dst, `"0x`...), a.Value, 16), '"')
		}
	case event.KindTexts:
		if value.Type() == pcommon.ValueTypeSlice && value.Slice().Len() > 0 {
			return appendTexts(dst, value.Slice())
		}
	case event.KindObject, event.KindMembers:
		has := value.Type()
		if has == pcommon.ValueTypeMap || has == pcommon.ValueTypeSlice && kind == event.KindMembers {
			return AppendJSON(dst, value)
		}
		if text := value.Str(); strings.HasPrefix(text, "{") && jsonscan.ValidJSON([]byte(text)) {
			return append(dst, text...)
		}
	case event.KindList:
		if value.Type() == pcommon.ValueTypeSlice {
			return AppendJSON(dst, value)
		}
	case event.KindAny, event.KindFloat:
		return AppendJSON(dst, value)
	}
	return dst
}

func appendTexts(dst []byte, list pcommon.Slice) []byte {
	dst = append(dst, '[')
	for i, element := range list.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendJSONText(dst, element.AsString())
	}
	return append(dst, ']')
}
