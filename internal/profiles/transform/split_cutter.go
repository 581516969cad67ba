// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// cutter makes the parts of one message.
type cutter struct {
	*Split
	from   pprofile.Profiles
	view   dictionary.View
	copier *dictionary.Copier
	parts  []pprofile.Profiles

	budget int // bytes that may still be built

	// The profile at hand.
	member
	interval uint64
	first    int // the parts before it
	maxBytes int // 0 where cutting cannot help
}

// member is a profile of the message.
type member struct {
	resource pprofile.ResourceProfiles
	scope    pprofile.ScopeProfiles
	source   pprofile.Profile
	at       [2]int // its resource and scope
	short    bool   // it respects the limits of profiles
}

func newCutter(s *Split, p pprofile.Profiles) *cutter {
	return &cutter{Split: s, from: p, view: dictionary.NewView(p.Dictionary())}
}

func (c *cutter) members() (all []member) {
	free := c.MaxSamples == 0 && c.MaxDuration == 0
	for i, resource := range c.from.ResourceProfiles().All() {
		for j, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				all = append(all, member{resource, scope, profile, [2]int{i, j}, free || c.Split.short(pieceOf(profile))})
			}
		}
	}
	return all
}

// cutMessage adds the parts of the message: halves of it until they fit, and then parts of profiles.
func (c *cutter) cutMessage() {
	for todo := [][]member{c.members()}; len(todo) > 0; { // the next one is the last
		list := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case c.budget <= 0:
			slices.Reverse(todo)
			part, _ := c.buildWhole(append(slices.Clip(list), slices.Concat(todo...)...))
			c.parts = append(c.parts, part)
			return
		case len(list) == 1:
			c.profile(list[0])
			continue
		case !slices.ContainsFunc(list, func(m member) bool { return !m.short }):
			if part, n := c.buildWhole(list); c.MaxBytes == 0 || n <= c.MaxBytes {
				c.parts = append(c.parts, part)
				continue
			}
		}
		todo = append(todo, list[len(list)/2:], list[:len(list)/2])
	}
}

// profile adds the parts of one profile.
func (c *cutter) profile(m member) {
	c.member = m
	c.interval, c.first, c.maxBytes = interval(c.from, c.source), len(c.parts), c.MaxBytes
	if c.maxBytes > 0 {
		if _, n := c.build(nil, whole); n > c.maxBytes/2 {
			c.maxBytes = 0
		}
	}
	all := pieceOf(c.source)
	part, n := c.build(all, whole)
	if m.short && c.small(n) {
		c.parts = append(c.parts, part)
		return
	}
	c.cut(all)
}

func (c *cutter) small(bytes int) bool { return c.maxBytes == 0 || bytes <= c.maxBytes }

// cut adds the parts of a piece, in the order of time.
func (c *cutter) cut(all piece) {
	for todo := []piece{all}; len(todo) > 0; { // the next one is the last
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		number := len(c.parts) - c.first + 1
		if number == maxParts || c.budget <= 0 {
			part, _ := c.build(join(append(todo, p)), number)
			c.parts = append(c.parts, part)
			return
		}
		if c.Split.short(p) {
			if part, n := c.build(p, number); c.small(n) {
				c.parts = append(c.parts, part)
				continue
			}
		}
		if head, tail := c.halves(p); len(tail) > 0 {
			todo = append(todo, tail, head)
		} else {
			part, _ := c.build(p, number)
			c.parts = append(c.parts, part)
		}
	}
}

// halves cuts at a multiple of MaxDuration where that is exceeded: two parts of a minute and a rest are better than four of
// three quarters.
func (c *cutter) halves(p piece) (piece, piece) {
	first, last, timed := p.span()
	if limit := uint64(c.MaxDuration); limit > 0 && timed && last-first >= limit {
		return p.cutAt(first + ((last-first)/limit+1)/2*limit)
	}
	return p.cut()
}

// whole is the number of a part that is all there is of its profile.
const whole = 0

// build makes a message of a piece of the profile at hand, and tells its size.
func (c *cutter) build(p piece, number int) (out pprofile.Profiles, bytes int) {
	out, b := c.open()
	profile := c.addScope(c.addResource(out)).Profiles().AppendEmpty()
	c.head(profile, number)
	if number != whole {
		c.mark(b, profile, p, number)
	}
	profile.Samples().EnsureCapacity(len(p))
	for _, portion := range p {
		sample := profile.Samples().AppendEmpty()
		c.copier.Sample(c.source.Samples().At(portion.sample), sample)
		sample.TimestampsUnixNano().FromRaw(portion.times)
		sample.Values().FromRaw(portion.values)
	}
	return out, c.close(out, b)
}

// buildWhole makes a message of profiles, and tells its size.
func (c *cutter) buildWhole(list []member) (out pprofile.Profiles, bytes int) {
	out, b := c.open()
	var resource pprofile.ResourceProfiles
	var scope pprofile.ScopeProfiles
	for i, m := range list {
		c.member = m
		if i == 0 || m.at[0] != list[i-1].at[0] {
			resource = c.addResource(out)
		}
		if i == 0 || m.at != list[i-1].at {
			scope = c.addScope(resource)
		}
		profile := scope.Profiles().AppendEmpty()
		c.head(profile, whole)
		profile.Samples().EnsureCapacity(c.source.Samples().Len())
		for _, from := range c.source.Samples().All() {
			sample := profile.Samples().AppendEmpty()
			c.copier.Sample(from, sample)
			from.TimestampsUnixNano().CopyTo(sample.TimestampsUnixNano())
			from.Values().CopyTo(sample.Values())
		}
	}
	return out, c.close(out, b)
}

// open begins a message.
func (c *cutter) open() (pprofile.Profiles, *dictionary.Builder) {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	if c.copier == nil {
		c.copier = dictionary.NewCopier(c.view, b)
	} else {
		c.copier.Restart(b)
	}
	return out, b
}

// close ends a message and takes its size from the budget.
func (c *cutter) close(out pprofile.Profiles, b *dictionary.Builder) (bytes int) {
	b.Finish()
	b.Release()
	bytes = size(out)
	c.budget -= bytes + partOverhead
	return bytes
}

func (c *cutter) addResource(out pprofile.Profiles) pprofile.ResourceProfiles {
	resource := out.ResourceProfiles().AppendEmpty()
	c.resource.Resource().CopyTo(resource.Resource())
	resource.SetSchemaUrl(c.resource.SchemaUrl())
	return resource
}

func (c *cutter) addScope(resource pprofile.ResourceProfiles) pprofile.ScopeProfiles {
	scope := resource.ScopeProfiles().AppendEmpty()
	c.scope.Scope().CopyTo(scope.Scope())
	scope.SetSchemaUrl(c.scope.SchemaUrl())
	return scope
}

// head copies what a profile says beside its samples.
func (c *cutter) head(to pprofile.Profile, number int) {
	to.SetTime(c.source.Time())
	to.SetDurationNano(c.source.DurationNano())
	to.SetPeriod(c.source.Period())
	to.SetProfileID(c.source.ProfileID())
	to.SetDroppedAttributesCount(c.source.DroppedAttributesCount())
	c.copier.ValueType(c.source.SampleType(), to.SampleType())
	c.copier.ValueType(c.source.PeriodType(), to.PeriodType())
	c.copier.Attributes(c.attributes(number), to.AttributeIndices())
}

// attributes are those of the profile that a part has, too: not the measurements behind the first, nor what an earlier cut put.
func (c *cutter) attributes(number int) pcommon.Int32Slice {
	kept := pcommon.NewInt32Slice()
	c.source.AttributeIndices().CopyTo(kept)
	if number != whole {
		kept.RemoveIf(func(i int32) bool {
			a, _ := c.view.Attribute(dictionary.AttributeIndex(i))
			isPart := a.Key == semconv.SplitProfileID || a.Key == semconv.SplitPart
			return isPart || a.Key == semconv.SentryMeasurements && number > 1
		})
	}
	return kept
}

// mark gives a part its own time, id and number.
func (c *cutter) mark(b *dictionary.Builder, part pprofile.Profile, p piece, number int) {
	if first, last, timed := p.span(); timed {
		part.SetTime(pcommon.Timestamp(first))
		part.SetDurationNano(lasting(first, last, c.interval))
	}
	if id := c.source.ProfileID(); !id.IsEmpty() {
		part.SetProfileID(partID(id, number))
		part.AttributeIndices().Append(int32(b.AttrString(semconv.SplitProfileID, hex.EncodeToString(id[:]))))
	}
	part.AttributeIndices().Append(int32(b.AttrInt(semconv.SplitPart, int64(number))))
}

// partID is the same for the same part of the same profile, and else different.
func partID(whole pprofile.ProfileID, number int) (id pprofile.ProfileID) {
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(whole[:], uint32(number)))
	copy(id[:], digest[:])
	return id
}

// size is a message's as protobuf, and not less: marshalling moves the texts of resources and scopes into the dictionary,
// which costs a reference each.
func size(p pprofile.Profiles) int {
	n := new(pprofile.ProtoMarshaler).ProfilesSize(p)
	for _, resource := range p.ResourceProfiles().All() {
		n += references(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			n += references(scope.Scope().Attributes())
		}
	}
	return n
}

// maxReference is a tag, an index below 2^28, and the tag of the entry with the lengths around it.
const maxReference = 12

func references(m pcommon.Map) int { return 2 * maxReference * m.Len() }
