// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// splitter splits one message.
type splitter struct {
	*Split
	from     pprofile.Profiles
	view     dictionary.View
	copier   *dictionary.Copier
	messages []pprofile.Profiles

	budget int // number of bytes that may still be built

	// The current profile.
	profileRef
	interval    uint64
	partsBefore int // number of parts before it
	maxBytes    int // 0 if splitting cannot help
}

// profileRef is a profile of the message.
type profileRef struct {
	resource      pprofile.ResourceProfiles
	scope         pprofile.ScopeProfiles
	source        pprofile.Profile
	scopePosition [2]int // positions of its resource and scope
	withinLimits  bool   // it is within the limits for profiles
}

func newSplitter(s *Split, p pprofile.Profiles) *splitter {
	return &splitter{Split: s, from: p, view: dictionary.NewView(p.Dictionary())}
}

func (c *splitter) profiles() (all []profileRef) {
	free := c.MaxSamples == 0 && c.MaxDuration == 0
	for i, resource := range c.from.ResourceProfiles().All() {
		for j, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				all = append(all, profileRef{resource, scope, profile, [2]int{i, j}, free || c.Split.withinLimits(wholeOf(profile))})
			}
		}
	}
	return all
}

// splitMessage adds the parts of the message. It halves the message until the parts fit, then
// splits single profiles.
func (c *splitter) splitMessage() {
	for pending := [][]profileRef{c.profiles()}; len(pending) > 0; { // the next one is the last
		profiles := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		switch {
		case c.budget <= 0:
			slices.Reverse(pending)
			part, _ := c.buildWhole(append(slices.Clip(profiles), slices.Concat(pending...)...))
			c.messages = append(c.messages, part)
			return
		case len(profiles) == 1:
			c.profile(profiles[0])
			continue
		case !slices.ContainsFunc(profiles, func(m profileRef) bool { return !m.withinLimits }):
			if part, n := c.buildWhole(profiles); c.MaxBytes == 0 || n <= c.MaxBytes {
				c.messages = append(c.messages, part)
				continue
			}
		}
		pending = append(pending, profiles[len(profiles)/2:], profiles[:len(profiles)/2])
	}
}

// profile adds the parts of one profile.
func (c *splitter) profile(m profileRef) {
	c.profileRef = m
	c.interval, c.partsBefore, c.maxBytes = interval(c.from, c.source), len(c.messages), c.MaxBytes
	if c.maxBytes > 0 {
		if _, n := c.build(nil, whole); n > c.maxBytes/2 {
			c.maxBytes = 0
		}
	}
	all := wholeOf(c.source)
	part, n := c.build(all, whole)
	if m.withinLimits && c.fits(n) {
		c.messages = append(c.messages, part)
		return
	}
	c.splitPart(all)
}

func (c *splitter) fits(bytes int) bool { return c.maxBytes == 0 || bytes <= c.maxBytes }

// splitPart adds the parts of a part, in chronological order.
func (c *splitter) splitPart(all part) {
	for pending := []part{all}; len(pending) > 0; { // the next one is the last
		p := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		number := len(c.messages) - c.partsBefore + 1
		if number == maxParts || c.budget <= 0 {
			part, _ := c.build(join(append(pending, p)), number)
			c.messages = append(c.messages, part)
			return
		}
		if c.Split.withinLimits(p) {
			if part, n := c.build(p, number); c.fits(n) {
				c.messages = append(c.messages, part)
				continue
			}
		}
		if head, tail := c.halves(p); len(tail) > 0 {
			pending = append(pending, tail, head)
		} else {
			part, _ := c.build(p, number)
			c.messages = append(c.messages, part)
		}
	}
}

// halves splits at a multiple of MaxDuration if the part is longer: two parts of a minute and a
// rest are better than four parts of 45 seconds.
func (c *splitter) halves(p part) (part, part) {
	first, last, timed := p.timeRange()
	if limit := uint64(c.MaxDuration); limit > 0 && timed && last-first >= limit {
		return p.splitAt(first + ((last-first)/limit+1)/2*limit)
	}
	return p.halves()
}

// whole is the part number of a complete profile.
const whole = 0

// build returns a message with a part of the current profile, and its size.
func (c *splitter) build(p part, number int) (out pprofile.Profiles, bytes int) {
	out, b := c.begin()
	profile := c.addScope(c.addResource(out)).Profiles().AppendEmpty()
	c.copyHeader(profile, number)
	if number != whole {
		c.markPart(b, profile, p, number)
	}
	profile.Samples().EnsureCapacity(len(p))
	for _, sp := range p {
		sample := profile.Samples().AppendEmpty()
		c.copier.Sample(c.source.Samples().At(sp.sample), sample)
		sample.TimestampsUnixNano().FromRaw(sp.times)
		sample.Values().FromRaw(sp.values)
	}
	return out, c.finish(out, b)
}

// buildWhole returns a message with complete profiles, and its size.
func (c *splitter) buildWhole(list []profileRef) (out pprofile.Profiles, bytes int) {
	out, b := c.begin()
	var resource pprofile.ResourceProfiles
	var scope pprofile.ScopeProfiles
	for i, m := range list {
		c.profileRef = m
		if i == 0 || m.scopePosition[0] != list[i-1].scopePosition[0] {
			resource = c.addResource(out)
		}
		if i == 0 || m.scopePosition != list[i-1].scopePosition {
			scope = c.addScope(resource)
		}
		profile := scope.Profiles().AppendEmpty()
		c.copyHeader(profile, whole)
		profile.Samples().EnsureCapacity(c.source.Samples().Len())
		for _, from := range c.source.Samples().All() {
			sample := profile.Samples().AppendEmpty()
			c.copier.Sample(from, sample)
			from.TimestampsUnixNano().CopyTo(sample.TimestampsUnixNano())
			from.Values().CopyTo(sample.Values())
		}
	}
	return out, c.finish(out, b)
}

// begin returns a new message and the Builder of its dictionary.
func (c *splitter) begin() (pprofile.Profiles, *dictionary.Builder) {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	if c.copier == nil {
		c.copier = dictionary.NewCopier(c.view, b)
	} else {
		c.copier.Restart(b)
	}
	return out, b
}

// finish completes a message, subtracts its size from the budget and returns the size.
func (c *splitter) finish(out pprofile.Profiles, b *dictionary.Builder) (bytes int) {
	b.Finish()
	b.Release()
	bytes = size(out)
	c.budget -= bytes + partOverhead
	return bytes
}

func (c *splitter) addResource(out pprofile.Profiles) pprofile.ResourceProfiles {
	resource := out.ResourceProfiles().AppendEmpty()
	c.resource.Resource().CopyTo(resource.Resource())
	resource.SetSchemaUrl(c.resource.SchemaUrl())
	return resource
}

func (c *splitter) addScope(resource pprofile.ResourceProfiles) pprofile.ScopeProfiles {
	scope := resource.ScopeProfiles().AppendEmpty()
	c.scope.Scope().CopyTo(scope.Scope())
	scope.SetSchemaUrl(c.scope.SchemaUrl())
	return scope
}

// copyHeader copies a profile without its samples.
func (c *splitter) copyHeader(to pprofile.Profile, number int) {
	to.SetTime(c.source.Time())
	to.SetDurationNano(c.source.DurationNano())
	to.SetPeriod(c.source.Period())
	to.SetProfileID(c.source.ProfileID())
	to.SetDroppedAttributesCount(c.source.DroppedAttributesCount())
	c.copier.ValueType(c.source.SampleType(), to.SampleType())
	c.copier.ValueType(c.source.PeriodType(), to.PeriodType())
	c.copier.Attributes(c.attributes(number), to.AttributeIndices())
}

// attributes returns the attributes that a part repeats. Only the first part has measurements.
// Attributes of an earlier split are omitted.
func (c *splitter) attributes(number int) pcommon.Int32Slice {
	kept := pcommon.NewInt32Slice()
	c.source.AttributeIndices().CopyTo(kept)
	if number != whole {
		kept.RemoveIf(func(i int32) bool {
			a, _ := c.view.Attribute(dictionary.AttributeIndex(i))
			return a.Key == semconv.SplitProfileID || a.Key == semconv.SplitPart || a.Key == semconv.SentryMeasurements && number > 1
		})
	}
	return kept
}

// markPart sets time, id and number of a part.
func (c *splitter) markPart(b *dictionary.Builder, part pprofile.Profile, p part, number int) {
	if first, last, timed := p.timeRange(); timed {
		part.SetTime(pcommon.Timestamp(first))
		part.SetDurationNano(duration(first, last, c.interval))
	} else {
		c.markStart(b, part, number)
	}
	if id := c.source.ProfileID(); !id.IsEmpty() {
		part.SetProfileID(partID(id, number))
		part.AttributeIndices().Append(int32(b.AttrString(semconv.SplitProfileID, hex.EncodeToString(id[:]))))
	}
	part.AttributeIndices().Append(int32(b.AttrInt(semconv.SplitPart, int64(number))))
}

// markStart delays the start of a part without timestamps by one nanosecond per part, because some
// backends treat profiles with the same start as duplicates, see [UniqueTimes].
func (c *splitter) markStart(b *dictionary.Builder, part pprofile.Profile, number int) {
	start := uint64(c.source.Time())
	if number == 1 || start > math.MaxInt64-maxParts {
		return
	}
	part.SetTime(pcommon.Timestamp(start + uint64(number-1)))
	if _, has := c.view.Get(c.source.AttributeIndices(), semconv.SplitTimeUnixNano); !has {
		part.AttributeIndices().Append(int32(b.AttrInt(semconv.SplitTimeUnixNano, int64(start))))
	}
}

// partID returns the ID of a part, which depends only on the profile ID and the part number.
func partID(whole pprofile.ProfileID, number int) (id pprofile.ProfileID) {
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(whole[:], uint32(number)))
	copy(id[:], digest[:])
	return id
}

// size returns an upper bound of the protobuf size of a message. Marshalling moves texts of
// resources and scopes to the dictionary, and adds a reference for each.
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
