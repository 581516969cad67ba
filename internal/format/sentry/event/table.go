// SPDX-License-Identifier: Apache-2.0

package event

import (
	"bytes"
	"math"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Table describes an object of Sentry's schema: one row per field. Reader, writer and translation
// follow from it. T is the model of the object.
//
// The model has fields only for values that code uses. Fields that are only carried are in the
// object's rest: their row states key and kind, and they are sent back unchanged.
//
// As in Sentry, a value of the wrong type drops the field, not the item. A key without a row is
// counted as FieldUnmapped, because ingest removes it too (relay-event-schema, additional
// properties without "retain"), unless the table states another policy.
type Table[T any] struct {
	name    string // of the object, in flaws: "exception" for "exception.type"
	rows    []*row[T]
	byKey   jsonscan.Words[*row[T]]
	rest    func(*T) *[]NamedValue // nil = no carried fields
	unknown policy

	written, visited []*row[T] // the rows with these functions
}

// policy states what happens to members without a row.
type policy int8

const (
	countUnknown  policy = iota // ingest removes them
	keepUnknown                 // ingest retains them
	ignoreUnknown               // ingest reads a few members of a larger object
)

// row is a field: its key, its type, how it is read, and how it is written. A nil function means
// that the field has another place, or none.
type row[T any] struct {
	key     string
	aliases []string
	kind    Kind
	name    string // in flaws

	set   func(s Source, t *T, name string)  // from an attribute, or from JSON without read
	read  func(l *reader, t *T, name string) // from JSON
	write func(dst []byte, key string, t *T) []byte
	visit func(v Visitor, key string, t *T)
}

// FieldUnmapped is the flaw of a field that has no place in OTLP and that Sentry's ingest drops, or
// that only ingest sets.
const FieldUnmapped = "unmapped_field"

// newTable returns the table of an object. Name is the prefix of its fields in flaws, "" at the top
// level.
func newTable[T any](name string, rest func(*T) *[]NamedValue, rows ...row[T]) *Table[T] {
	t := &Table[T]{name: name, rest: rest}
	tables = append(tables, t)
	for _, r := range rows {
		t.add(r)
	}
	return t
}

func (t *Table[T]) add(r row[T]) {
	t.rows = append(t.rows, &r)
	if r.write != nil {
		t.written = append(t.written, &r)
	}
	if r.visit != nil {
		t.visited = append(t.visited, &r)
	}
	if r.name = r.key; t.name != "" {
		r.name = t.name + "." + r.key
	}
	for _, key := range append([]string{r.key}, r.aliases...) {
		t.byKey.Put(key, &r)
	}
}

// carrying adds fields of the rest: no code uses their values.
func (t *Table[T]) carrying(kind Kind, keys ...string) *Table[T] {
	for _, key := range keys {
		t.add(carried[T](kind, key))
	}
	return t
}

// ignoring adds fields that repeat information from elsewhere in the item, so they can be dropped.
func (t *Table[T]) ignoring(keys ...string) *Table[T] {
	for _, key := range keys {
		t.add(ignored[T](key))
	}
	return t
}

// others states the policy for members without a row.
func (t *Table[T]) others(p policy) *Table[T] { t.unknown = p; return t }

// unprefixed omits the name of the object from flaws of its fields, as for elements of containers.
func (t *Table[T]) unprefixed() *Table[T] {
	for i := range t.rows {
		t.rows[i].name = t.rows[i].key
	}
	return t
}

// named returns the table under another name, for an object that occurs in several places.
func (t *Table[T]) named(name string) *Table[T] {
	other := newTable(name, t.rest)
	for _, r := range t.rows {
		other.add(*r)
	}
	return other.others(t.unknown)
}

// read reads an object. It reports false for any other value, which is a flaw unless it is null.
func (t *Table[T]) read(l *reader, into *T) bool {
	if l.S.Peek() != '{' {
		l.TypeMismatch(t.name)
		return false
	}
	l.S.Open('{')
	for n, after := 0, 0; ; {
		key, more := l.S.Member(&n)
		if !more {
			return l.S.Err == nil
		}
		t.member(l, into, key, &after)
	}
}

// decode reads the payload of an item, which is one object. Then into holds the last members that
// are readable, and flaws counts the others.
func (t *Table[T]) decode(payload []byte, into *T, flaws *[]discard.Flaw) (l *reader, err error) {
	l = newReader(payload)
	after := 0
	if broken := l.Document(func(key []byte) { t.member(l, into, key, &after) }); broken != nil {
		err = broken
	}
	*flaws = l.Flaws
	return l, err
}

// member reads the value of a member. `after` is the place of the last one, see jsonscan.Words.
func (t *Table[T]) member(l *reader, into *T, key []byte, after *int) {
	r, known := t.byKey.Next(after, jsonscan.View(key))
	switch {
	case known && r.read != nil:
		r.read(l, into, r.name)
	case known && r.set != nil:
		r.set(l, into, r.name)
	case known && r.kind != kindNone:
		carry(t.rest(into), r.key, l.JSON(r.kind, r.name))
	case !known && t.unknown == keepUnknown:
		l.keep(t.rest(into), string(key))
	case !known && t.unknown == ignoreUnknown:
		l.S.Skip()
	default:
		l.unmapped(t.name, key)
	}
}

// carry stores a carried value. The last value of a key counts.
func carry(rest *[]NamedValue, key string, value []byte) {
	if value == nil {
		return
	}
	for i := range *rest {
		if (*rest)[i].Name == key {
			(*rest)[i].Value = value
			return
		}
	}
	*rest = append(*rest, NamedValue{key, value})
}

// unmapped skips a value without a place and counts it, unless it is empty.
func (l *reader) unmapped(object string, key []byte) {
	switch string(l.S.Value()) {
	case "null", `""`, "{}", "[]":
		return
	}
	name := string(jsonscan.ValidUTF8(key[:min(len(key), maxUnmappedKey)]))
	if object != "" {
		name = object + "." + name
	}
	l.Flaws = discard.AddKey(l.Flaws, FieldUnmapped, name)
}

// maxUnmappedKey bounds the keys that a flaw lists for its reader.
const maxUnmappedKey = 64

// Append appends the object. Of an item, it is the inverse of the item's decoder.
func (t *Table[T]) Append(dst []byte, from *T) []byte {
	return append(t.appendMembers(append(dst, '{'), from), '}')
}

// appendMembers appends the members to the object at the end of dst.
func (t *Table[T]) appendMembers(dst []byte, from *T) []byte {
	for _, r := range t.written {
		dst = r.write(dst, r.key, from)
	}
	if t.rest != nil {
		dst = appendNamed(dst, *t.rest(from))
	}
	return dst
}

// Visit visits the fields that are set and that have a value of their own: neither nested objects
// nor lists of them.
func (t *Table[T]) Visit(from *T, v Visitor) {
	for _, r := range t.visited {
		r.visit(v, r.key, from)
	}
	if t.rest != nil {
		for _, member := range *t.rest(from) {
			v.JSON(member.Name, member.Value)
		}
	}
}

// Set sets a field from an attribute. It is the inverse of Visit. Without rest, it ignores fields
// that are only carried.
func (t *Table[T]) Set(into *T, key string, s Source, rest bool) {
	if r, known := t.byKey.Get(key); known && (rest || r.set != nil) {
		t.set(r, into, s)
	}
}

func (t *Table[T]) set(r *row[T], into *T, s Source) {
	switch {
	case r.set != nil:
		r.set(s, into, r.name)
	case r.kind != kindNone:
		carry(t.rest(into), r.key, s.JSON(r.kind, r.name))
	}
}

// Setter returns the function that sets a field, or nil if there is no such field.
func (t *Table[T]) Setter(key string) func(*T, Source) {
	r, known := t.byKey.Get(key)
	if !known {
		return nil
	}
	return func(into *T, s Source) { t.set(r, into, s) }
}

// Kinds returns the kind of each field, by key.
func (t *Table[T]) Kinds() *jsonscan.Words[Kind] {
	kinds := &jsonscan.Words[Kind]{}
	for i := range t.rows {
		kinds.Put(t.rows[i].key, t.rows[i].kind)
	}
	return kinds
}

// tables are all tables, for Schema.
var tables []interface {
	schema() (object string, keys []string)
}

func (t *Table[T]) schema() (object string, keys []string) {
	for i := range t.rows {
		keys = append(keys, t.rows[i].key)
	}
	return t.name, keys
}

// Schema returns the keys of all objects: by the name of the object, "" for those of items.
func Schema() map[string][]string {
	all := map[string][]string{}
	for _, t := range tables {
		object, keys := t.schema()
		all[object] = append(all[object], keys...)
	}
	return all
}

// reader reads events, spans, logs and metrics. It is the Source of fields in JSON.
type reader struct {
	jsonscan.Lenient

	// Buffers for lists that occur in each of a thousand elements. A list is copied once its length
	// is known.
	attributeBuf []Attribute
	valueBuf     []NamedValue

	found bool // a list without which the item states nothing
}

func newReader(payload []byte) *reader { return &reader{Lenient: jsonscan.NewLenient(payload)} }

func (l *reader) Address(field string) jsonscan.Address {
	address := l.S.Address()
	if address.Bad {
		l.AddFlaw(field)
	}
	return address
}

// JSON reads a value of a kind and returns it as JSON, usually as sent. Empty text is absent.
func (l *reader) JSON(kind Kind, field string) []byte {
	switch kind {
	case KindText:
		return l.jsonText(field, l.Text)
	case KindID:
		return l.jsonText(field, l.ID)
	case KindFlag:
		return jsonOf(l.Flag(field), strconv.AppendBool)
	case KindInt:
		return jsonOf(l.Int(field), appendInt)
	case KindCount:
		return jsonOf(l.count(field, math.MaxInt64), appendInt)
	case KindFloat:
		return jsonOf(l.Float(field), jsonscan.AppendFloat)
	case KindAddress:
		if address := l.Address(field); address.Set {
			return append(strconv.AppendUint([]byte(`"0x`), address.Value, 16), '"')
		}
	case KindObject:
		return l.RawObject(field)
	case KindList:
		if l.S.Peek() == '[' {
			return l.Value()
		}
		l.TypeMismatch(field)
	default:
		return l.Raw()
	}
	return nil
}

func jsonOf[V any](value jsonscan.Optional[V], write func([]byte, V) []byte) []byte {
	if !value.Set {
		return nil
	}
	return write(nil, value.Value)
}

// count reads a whole number that is neither negative nor too large.
func (l *reader) count(field string, most int64) jsonscan.Optional[int64] {
	n := l.Int(field)
	if n.Set && (n.Value < 0 || n.Value > most) {
		l.AddFlaw(field)
		return jsonscan.Optional[int64]{}
	}
	return n
}

// jsonText returns a text as JSON, without a copy if it was sent as a plain string.
func (l *reader) jsonText(field string, read func(string) string) []byte {
	l.S.Peek()
	start := l.S.Pos
	text := read(field)
	if sent := l.S.Data[start:l.S.Pos]; len(sent) == len(text)+2 && bytes.HasPrefix(sent, []byte{'"'}) {
		return sent[:len(sent):len(sent)]
	}
	if text == "" {
		return nil
	}
	return jsonscan.AppendJSONText(nil, text)
}
