// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const (
	// MaxDepth is the maximum number of frames of a stack. Browsers and Node.js record at most 128,
	// native profilers 1024.
	MaxDepth = 1024

	// MaxStackFrames is the maximum number of frames of all stacks: 32 MB in the message.
	MaxStackFrames = 8 << 20

	// maxFrames, maxNodes, maxIdentities and maxSamples bound the memory of a message. A file of 64
	// MB can have many millions of each. Our largest recording has 30,000 frames and 200,000
	// samples.
	maxFrames     = 1 << 18 // different ones
	maxNodes      = 1 << 19
	maxIdentities = 1 << 18 // samples with different stacks or attributes
	maxSamples    = 1 << 22

	// maxProfiles is the maximum number of profiles of a file: one for each type of values.
	maxProfiles = 1000
)

// Options provide data that a file lacks.
type Options struct {
	Name  string    // of the service, if the file names none
	Start time.Time // of profiles in formats without dates
}

// Loss is data of a file that is not in its translation.
type Loss struct {
	What  string // a noun, with its reason
	Count int
}

// ErrEmpty is the error of a file without any usable sample. The losses state the reasons.
var ErrEmpty = errors.New("the profile has no samples")

// Shape is the kind of the samples of a profile.
type Shape int

// The shapes, see the package comment.
const (
	Counts Shape = iota
	Values
	Times
	Totals
)

// Type is the type of the samples of a profile.
type Type struct {
	Shape  Shape
	Name   string // of values; "samples" for Counts
	Unit   string
	Period time.Duration // of Counts and Values
}

// Node is a frame with its callers. The root, 0, has no frame.
type Node int32

type node struct {
	caller Node
	frame  dictionary.LocationIndex
	depth  int32
	stack  dictionary.StackIndex // 0: not yet written
}

// call identifies a node.
type call struct {
	caller Node
	frame  dictionary.LocationIndex
}

// Builder builds one message.
type Builder struct {
	*dictionary.Builder
	message pprofile.Profiles
	scope   pprofile.ScopeProfiles
	options Options

	nodes  []node
	known  map[call]Node
	frames int // of all written stacks
	// identities and samples are those of all profiles.
	identities, samples int
	list                []dictionary.LocationIndex

	profiles []*Profile
	losses   []Loss
	lossOf   map[string]int // by what
}

// NewBuilder returns the builder of a message.
func NewBuilder(o Options) *Builder {
	b := &Builder{message: pprofile.NewProfiles(), options: o, nodes: make([]node, 1), known: map[call]Node{}, lossOf: map[string]int{}}
	b.Builder = dictionary.NewBuilder(b.message.Dictionary())
	resource := b.addResource()
	if o.Name != "" {
		resource.Resource().Attributes().PutStr(semconv.ServiceName, o.Name)
	}
	return b
}

// addResource adds a resource, for the profiles that are added later.
func (b *Builder) addResource() pprofile.ResourceProfiles {
	resource := b.message.ResourceProfiles().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	b.scope = resource.ScopeProfiles().AppendEmpty()
	b.scope.SetSchemaUrl(semconv.SchemaURL)
	return resource
}

// SetName sets the name of the service, if the options have none.
func (b *Builder) SetName(name string) {
	if b.options.Name == "" && name != "" {
		b.message.ResourceProfiles().At(0).Resource().Attributes().PutStr(semconv.ServiceName, name)
	}
}

// Process begins the next process of a file: profiles that are added later belong to it. The ID is
// 0 if the file has no numeric ID.
func (b *Builder) Process(id int64, name string) {
	all := b.message.ResourceProfiles()
	resource := all.At(all.Len() - 1)
	if b.scope.Profiles().Len() > 0 {
		resource = b.addResource()
		if service, ok := all.At(0).Resource().Attributes().Get(semconv.ServiceName); ok {
			resource.Resource().Attributes().PutStr(semconv.ServiceName, service.Str())
		}
	}
	if id > 0 {
		resource.Resource().Attributes().PutInt(semconv.ProcessPID, id)
	}
	if name != "" {
		resource.Resource().Attributes().PutStr(semconv.ProcessExecutableName, name)
	}
}

// Start returns the start of a file without a date, in Unix nanoseconds.
func (b *Builder) Start() uint64 { return uint64(max(b.options.Start.UnixNano(), 1)) }

// Lose counts a loss.
func (b *Builder) Lose(what string, n int) {
	if n == 0 {
		return
	}
	i, known := b.lossOf[what] // a file may have a loss for each of a million types of values
	if !known {
		i = len(b.losses)
		b.lossOf[what] = i
		b.losses = append(b.losses, Loss{What: what})
	}
	b.losses[i].Count += n
}

// Frame is a line of a function.
type Frame struct {
	Name, System, File string
	StartLine          int64
	Line, Column       int64 // from 1; 0: unknown
}

// Frame returns the location of a frame without an address.
func (b *Builder) Frame(f Frame) dictionary.LocationIndex {
	if b.message.Dictionary().LocationTable().Len() >= maxFrames {
		b.Lose("names of frames beyond "+strconv.Itoa(maxFrames), 1)
		f = Frame{Name: "(other)"}
	}
	if f.Name == "" && f.System == "" && f.File == "" {
		f.Name = "(unknown)"
	}
	function := b.Function(dictionary.Function{Name: b.SharedString(f.Name), SystemName: b.SharedString(f.System), Filename: b.SharedString(f.File), StartLine: max(f.StartLine, 0)})
	return b.Location(dictionary.Location{Lines: []dictionary.Line{{Function: function, Line: max(f.Line, 0), Column: max(f.Column, 0)}}})
}

// Call returns the node of a frame that a node calls. Nodes deeper than MaxDepth are their caller.
func (b *Builder) Call(caller Node, frame dictionary.LocationIndex) Node {
	if b.nodes[caller].depth >= MaxDepth {
		b.Lose("frames deeper than "+strconv.Itoa(MaxDepth), 1)
		return caller
	}
	key := call{caller, frame}
	n, known := b.known[key]
	if !known && len(b.nodes) >= maxNodes {
		b.Lose("frames beyond "+strconv.Itoa(maxNodes)+" different stacks", 1)
		return caller
	}
	if !known {
		n = Node(len(b.nodes))
		b.known[key] = n
		b.nodes = append(b.nodes, node{caller: caller, frame: frame, depth: b.nodes[caller].depth + 1})
	}
	return n
}

// Caller returns the caller of a node, and its frame.
func (b *Builder) Caller(n Node) (Node, dictionary.LocationIndex) {
	return b.nodes[n].caller, b.nodes[n].frame
}

// stack returns the stack of a node; false if the message would be too large.
func (b *Builder) stack(n Node) (dictionary.StackIndex, bool) {
	entry := &b.nodes[n]
	if n == 0 || entry.stack != 0 {
		return entry.stack, true
	}
	if b.frames += int(entry.depth); b.frames > MaxStackFrames {
		return 0, false
	}
	b.list = b.list[:0]
	for at := n; at != 0; at = b.nodes[at].caller {
		b.list = append(b.list, b.nodes[at].frame)
	}
	entry.stack = b.Stack(b.list)
	return entry.stack, true
}

// Thread returns the attributes of a thread. IDs that are decimal numbers are stored as such.
func (b *Builder) Thread(id, name string) (attributes []dictionary.AttributeIndex) {
	if id != "" {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil && strconv.FormatInt(n, 10) == id {
			attributes = append(attributes, b.AttrInt(semconv.ThreadID, n))
		} else {
			attributes = append(attributes, b.AttrString(semconv.ThreadID, id))
		}
	}
	if name != "" {
		attributes = append(attributes, b.AttrString(semconv.ThreadName, name))
	}
	return attributes
}

// Profile is one profile of the message.
type Profile struct {
	*Builder
	out     pprofile.Profile
	shape   Shape
	known   map[string]int // samples by identity
	key     []byte
	start   uint64 // of the earliest sample
	end     uint64
	stated  bool // the start
	samples int
	rest    float64 // of rounded values, see Whole
}

// Profile adds a profile, nil if there are too many.
func (b *Builder) Profile(t Type) *Profile {
	if len(b.profiles) == maxProfiles {
		b.Lose("profiles beyond "+strconv.Itoa(maxProfiles), 1)
		return nil
	}
	p := &Profile{Builder: b, out: b.scope.Profiles().AppendEmpty(), shape: t.Shape, known: map[string]int{}, start: math.MaxUint64}
	b.profiles = append(b.profiles, p)
	dictionary.SetValueType(p.out.SampleType(), b.String(t.Name), b.String(t.Unit))
	if t.Shape == Counts || t.Shape == Values {
		p.SetPeriod("wall", "nanoseconds", int64(t.Period))
	}
	return p
}

// SetPeriod sets the period.
func (p *Profile) SetPeriod(name, unit string, period int64) {
	if period > 0 {
		dictionary.SetValueType(p.out.PeriodType(), p.String(name), p.String(unit))
		p.out.SetPeriod(period)
	}
}

// SetAttributes sets the attributes.
func (p *Profile) SetAttributes(attributes ...dictionary.AttributeIndex) {
	dictionary.SetAttributes(p.out.AttributeIndices(), attributes...)
}

// SetTime sets the start and the duration. Samples need not cover all of it.
func (p *Profile) SetTime(start, duration uint64) {
	p.stated, p.start, p.end = true, start, start+min(duration, math.MaxUint64-start)
}

// Whole rounds a number of the file, because OTLP stores integers. The sum of all values is the
// rounded sum of the numbers: each value includes the remainder of the values before it.
func (p *Profile) Whole(x float64) int64 {
	const limit = 1 << 61 // a sum with a time stays in range
	if x != math.Trunc(x) && p.shape != Times {
		p.Lose("fractions of values, which are rounded", 1)
	}
	x = max(min(x, limit), -limit) + p.rest
	whole := math.Round(x)
	p.rest = x - whole
	return int64(whole)
}

// Sample is one sample of a file.
type Sample struct {
	Attributes []dictionary.AttributeIndex
	Link       dictionary.LinkIndex
	Node       Node
	Time       uint64 // Unix nanoseconds; not of Totals
	Value      int64  // not of Counts
}

// Add adds a sample.
func (p *Profile) Add(s Sample) {
	stack, ok := p.stack(s.Node)
	if !ok {
		p.Lose("samples, because the stacks have too many frames", 1)
		return
	}
	if s.Time > math.MaxInt64 {
		p.Lose("samples with a time after the year 2262", 1)
		return
	}
	sample, ok := p.sample(stack, s)
	if !ok || p.Builder.samples >= maxSamples {
		p.Lose("samples beyond the maximum", 1)
		return
	}
	p.samples++
	p.Builder.samples++
	duration := uint64(p.out.Period())
	if p.shape == Times {
		duration = uint64(max(s.Value, 1))
	}
	switch p.shape {
	case Totals:
		if values := sample.Values(); values.Len() == 0 {
			values.Append(s.Value)
		} else {
			values.SetAt(0, dictionary.AddSaturated(values.At(0), s.Value))
		}
		return
	case Values, Times:
		sample.Values().Append(s.Value)
	}
	sample.TimestampsUnixNano().Append(s.Time)
	p.start, p.end = min(p.start, s.Time), max(p.end, s.Time+max(duration, 1))
}

// sample returns the OTLP sample with the identity of a sample; false if there are too many.
func (p *Profile) sample(stack dictionary.StackIndex, s Sample) (pprofile.Sample, bool) {
	p.key = binary.AppendUvarint(p.key[:0], uint64(stack))
	p.key = binary.AppendUvarint(p.key, uint64(s.Link))
	for _, a := range s.Attributes {
		p.key = binary.AppendUvarint(p.key, uint64(a))
	}
	i, known := p.known[string(p.key)]
	if !known && p.identities >= maxIdentities {
		return pprofile.Sample{}, false
	}
	if !known {
		p.identities++
		i = p.out.Samples().Len()
		p.known[string(p.key)] = i
		sample := p.out.Samples().AppendEmpty()
		sample.SetStackIndex(int32(stack))
		sample.SetLinkIndex(int32(s.Link))
		dictionary.SetAttributes(sample.AttributeIndices(), slices.Clone(s.Attributes)...)
	}
	return p.out.Samples().At(i), true
}

// empty returns the error of a file without samples.
func (b *Builder) empty() error {
	if len(b.losses) > 0 {
		return fmt.Errorf("%w that are usable", ErrEmpty)
	}
	return ErrEmpty
}

// Finish returns the message and the losses. It drops profiles without samples.
func (b *Builder) Finish() (pprofile.Profiles, []Loss, error) {
	samples := 0
	for _, p := range b.profiles {
		samples += p.samples
		if p.samples > 0 && (p.stated || p.shape != Totals) {
			p.out.SetTime(pcommon.Timestamp(p.start))
			p.out.SetDurationNano(p.end - p.start)
		}
	}
	b.Builder.Finish()
	b.Release()
	if samples == 0 {
		return pprofile.NewProfiles(), b.losses, b.empty()
	}
	b.message.ResourceProfiles().RemoveIf(func(r pprofile.ResourceProfiles) bool {
		profiles := r.ScopeProfiles().At(0).Profiles()
		profiles.RemoveIf(func(p pprofile.Profile) bool { return p.Samples().Len() == 0 })
		return profiles.Len() == 0
	})
	dictionary.Compact(b.message) // frames of samples that are not used
	return b.message, b.losses, nil
}
