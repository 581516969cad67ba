package transform

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary"
)

// cutter makes the parts of one message.
type cutter struct {
	*Split
	from   pprofile.Profiles
	view   dictionary.View
	copier *dictionary.Copier
	parts  []pprofile.Profiles

	// The profile at hand.
	resource pprofile.ResourceProfiles
	scope    pprofile.ScopeProfiles
	source   pprofile.Profile
	interval uint64
	first    int // the parts before it
	maxBytes int // 0 where cutting cannot help
	budget   int // bytes that may still be built
}

func newCutter(s *Split, p pprofile.Profiles) *cutter {
	return &cutter{Split: s, from: p, view: dictionary.NewView(p.Dictionary())}
}

// profile adds the parts of one profile.
func (c *cutter) profile(resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, source pprofile.Profile) {
	c.resource, c.scope, c.source = resource, scope, source
	c.interval, c.first, c.maxBytes = interval(c.from, source), len(c.parts), c.MaxBytes
	if c.maxBytes > 0 && size(c.build(nil, whole)) > c.maxBytes/2 {
		c.maxBytes = 0
	}
	all := pieceOf(source)
	part := c.build(all, whole)
	n := size(part)
	if c.short(all) && c.small(n) {
		c.parts = append(c.parts, part)
		return
	}
	c.budget = max(minBudget, maxMultiple*n)
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
			c.parts = append(c.parts, c.build(join(append(todo, p)), number))
			return
		}
		if c.short(p) {
			part := c.build(p, number)
			n := size(part)
			c.budget -= n
			if c.small(n) {
				c.parts = append(c.parts, part)
				continue
			}
		}
		if head, tail := c.halves(p); len(tail) > 0 {
			todo = append(todo, tail, head)
		} else {
			c.parts = append(c.parts, c.build(p, number))
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

// build makes a message of a piece.
func (c *cutter) build(p piece, number int) pprofile.Profiles {
	out := pprofile.NewProfiles()
	b := dictionary.NewBuilder(out.Dictionary())
	defer b.Release()
	if c.copier == nil {
		c.copier = dictionary.NewCopier(c.view, b)
	} else {
		c.copier.Restart(b)
	}
	resource := out.ResourceProfiles().AppendEmpty()
	c.resource.Resource().CopyTo(resource.Resource())
	resource.SetSchemaUrl(c.resource.SchemaUrl())
	scope := resource.ScopeProfiles().AppendEmpty()
	c.scope.Scope().CopyTo(scope.Scope())
	scope.SetSchemaUrl(c.scope.SchemaUrl())

	profile := scope.Profiles().AppendEmpty()
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
	b.Finish()
	return out
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
			return a.Key == keySplitProfileID || a.Key == keySplitPart || a.Key == keyMeasurements && number > 1
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
		part.AttributeIndices().Append(int32(b.AttrString(keySplitProfileID, hex.EncodeToString(id[:]))))
	}
	part.AttributeIndices().Append(int32(b.AttrInt(keySplitPart, int64(number))))
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
