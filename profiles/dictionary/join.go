// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/internal/canonical"
)

// Join moves the profiles of several messages into one message with one dictionary, in their order.
// Equal resources become one, and so do equal scopes of a resource; the profiles and their samples
// do not change.
//
// Messages with broken references or with data in entry 0 of a table have no exact copy. They stay
// unchanged and follow the joined message.
func Join(messages []pprofile.Profiles) []pprofile.Profiles {
	if len(messages) < 2 {
		return messages
	}
	out := pprofile.NewProfiles()
	j := joiner{
		to: out, builder: NewBuilder(out.Dictionary()),
		resources: map[string]pprofile.ResourceProfiles{}, scopes: map[string]pprofile.ScopeProfiles{},
	}
	defer j.builder.Release()
	all := []pprofile.Profiles{out}
	for _, m := range messages {
		if j.canAdd(m) {
			j.add(m)
		} else {
			all = append(all, m)
		}
	}
	j.builder.Finish()
	if out.ResourceProfiles().Len() == 0 {
		return all[1:]
	}
	return all
}

// joiner has the resources and scopes of the joined message by content.
type joiner struct {
	to        pprofile.Profiles
	builder   *Builder
	resources map[string]pprofile.ResourceProfiles
	scopes    map[string]pprofile.ScopeProfiles
	key       []byte
}

// canAdd reports whether a message has an exact copy.
func (j *joiner) canAdd(m pprofile.Profiles) bool {
	if !hasZeroEntries(m.Dictionary()) {
		return false
	}
	integrity := NewIntegrity(NewView(m.Dictionary()))
	for _, resource := range m.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				if !integrity.Profile(profile) {
					return false
				}
			}
		}
	}
	return true
}

func (j *joiner) add(m pprofile.Profiles) {
	c := NewCopier(NewView(m.Dictionary()), j.builder)
	for _, resource := range m.ResourceProfiles().All() {
		ofResource := j.resource(resource)
		inResource := len(j.key)
		for _, scope := range resource.ScopeProfiles().All() {
			profiles := j.scope(ofResource, scope, inResource).Profiles()
			for _, profile := range scope.Profiles().All() {
				c.Profile(profile)
				profile.MoveTo(profiles.AppendEmpty())
			}
		}
	}
}

// resource returns the resource of the joined message that equals another one, and sets key to its
// content. Resources that cannot be compared are never equal; their key is empty.
func (j *joiner) resource(from pprofile.ResourceProfiles) pprofile.ResourceProfiles {
	r := from.Resource()
	key := binary.AppendUvarint(canonical.AppendText(j.key[:0], from.SchemaUrl()), uint64(r.DroppedAttributesCount()))
	var ok bool
	if j.key, ok = canonical.AppendMap(key, r.Attributes(), 0); !ok || entity.ResourceEntityRefs(r).Len() > 0 {
		j.key = j.key[:0]
	}
	to, known := j.resources[string(j.key)]
	if !known || len(j.key) == 0 {
		to = j.to.ResourceProfiles().AppendEmpty()
		r.CopyTo(to.Resource())
		to.SetSchemaUrl(from.SchemaUrl())
		j.resources[string(j.key)] = to
	}
	return to
}

// scope does the same for a scope of the resource whose key has the given length.
func (j *joiner) scope(of pprofile.ResourceProfiles, from pprofile.ScopeProfiles, inResource int) pprofile.ScopeProfiles {
	s := from.Scope()
	key := canonical.AppendText(canonical.AppendText(canonical.AppendText(j.key[:inResource], s.Name()), s.Version()), from.SchemaUrl())
	key, ok := canonical.AppendMap(binary.AppendUvarint(key, uint64(s.DroppedAttributesCount())), s.Attributes(), 0)
	j.key = key
	to, known := j.scopes[string(key)]
	if !known || !ok || inResource == 0 {
		to = of.ScopeProfiles().AppendEmpty()
		s.CopyTo(to.Scope())
		to.SetSchemaUrl(from.SchemaUrl())
		j.scopes[string(key)] = to
	}
	return to
}

// hasZeroEntries reports whether entry 0 of every table, if present, is the zero value.
func hasZeroEntries(d pprofile.ProfilesDictionary) bool {
	return (d.StringTable().Len() == 0 || d.StringTable().At(0) == "") &&
		(d.AttributeTable().Len() == 0 || d.AttributeTable().At(0).Equal(pprofile.NewKeyValueAndUnit())) &&
		(d.FunctionTable().Len() == 0 || d.FunctionTable().At(0).Equal(pprofile.NewFunction())) &&
		(d.MappingTable().Len() == 0 || d.MappingTable().At(0).Equal(pprofile.NewMapping())) &&
		(d.LocationTable().Len() == 0 || d.LocationTable().At(0).Equal(pprofile.NewLocation())) &&
		(d.LinkTable().Len() == 0 || d.LinkTable().At(0).Equal(pprofile.NewLink())) &&
		(d.StackTable().Len() == 0 || d.StackTable().At(0).Equal(pprofile.NewStack()))
}

// Separate returns each profile of a message as a message of its own, which repeats its resource
// and its entries of the dictionary: once the results have maxBytes together, the remaining
// profiles are in one message. All results have at most maxBytes plus twice the size of the
// message.
func Separate(message pprofile.Profiles, maxBytes int) (all []pprofile.Profiles) {
	// A copy, because the message may be read-only. By encoding, because an exporter that has
	// encoded the message has replaced texts of resources by references to the dictionary.
	encoded, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(message)
	if err != nil {
		return []pprofile.Profiles{message}
	}
	from, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(encoded)
	if err != nil {
		return []pprofile.Profiles{message}
	}
	s := separator{copier: NewCopier(NewView(from.Dictionary()), nil)}
	for _, resource := range from.ResourceProfiles().All() {
		s.hasResource = false
		for _, scope := range resource.ScopeProfiles().All() {
			s.hasScope = false
			for _, profile := range scope.Profiles().All() {
				if s.builder == nil || maxBytes > 0 {
					maxBytes -= s.finish()
					s.begin()
					all = append(all, s.to)
				}
				s.add(resource, scope, profile)
			}
		}
	}
	s.finish()
	return all
}

// separator has the message to which profiles are added.
type separator struct {
	copier                *Copier
	builder               *Builder // nil before the first message
	to                    pprofile.Profiles
	hasResource, hasScope bool // of the next profile
}

func (s *separator) begin() {
	s.to = pprofile.NewProfiles()
	s.builder = NewBuilder(s.to.Dictionary())
	s.copier.Restart(s.builder)
	s.hasResource, s.hasScope = false, false
}

// finish completes the message and returns its size.
func (s *separator) finish() int {
	if s.builder == nil {
		return 0
	}
	s.builder.Finish()
	s.builder.Release()
	return (&pprofile.ProtoMarshaler{}).ProfilesSize(s.to)
}

func (s *separator) add(resource pprofile.ResourceProfiles, scope pprofile.ScopeProfiles, profile pprofile.Profile) {
	resources := s.to.ResourceProfiles()
	if !s.hasResource {
		to := resources.AppendEmpty()
		resource.Resource().CopyTo(to.Resource())
		to.SetSchemaUrl(resource.SchemaUrl())
	}
	scopes := resources.At(resources.Len() - 1).ScopeProfiles()
	if !s.hasResource || !s.hasScope {
		to := scopes.AppendEmpty()
		scope.Scope().CopyTo(to.Scope())
		to.SetSchemaUrl(scope.SchemaUrl())
	}
	s.hasResource, s.hasScope = true, true
	s.copier.Profile(profile)
	profile.MoveTo(scopes.At(scopes.Len() - 1).Profiles().AppendEmpty())
}
