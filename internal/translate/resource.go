package translate

import (
	"cmp"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// identity is what every kind of item says about its origin. The resource of all signals comes from these alone, so that a
// profile and its spans end up under the same service.
type identity struct {
	platform, release, dist, environment string
	sdk                                  sentry.ClientSDK
	machine                              *sentry.Profile // that says what it was taken on; a V2 chunk says nothing of it
}

// profileIdentity is that of a V1 profile, which leaves its SDK to the envelope header.
func profileIdentity(p *sentry.Profile, src Source) identity {
	return identity{p.Platform, p.Release, p.Dist, p.Environment, sentry.ClientSDK{}, p}.completed(src)
}

func chunkIdentity(c *sentry.Chunk, src Source) identity {
	return identity{c.Platform, c.Release, c.Dist, c.Environment, c.ClientSDK, nil}.completed(src)
}

func checkInIdentity(c *sentry.CheckIn, src Source) identity {
	return identity{platform: c.Platform, release: c.Release, environment: c.Environment, sdk: c.SDK}.completed(src)
}

// completed takes from the envelope's header what the payload does not say: python sends sessions and client reports in
// envelopes without any, most others name their SDK there only.
func (id identity) completed(src Source) identity {
	id.release = firstText(id.release, src.Release)
	id.environment = firstText(id.environment, src.Environment)
	id.sdk = cmp.Or(id.sdk, src.SDK)
	return id.clipped()
}

// clipped clips the texts that each item repeats.
func (id identity) clipped() identity {
	for _, name := range []*string{&id.platform, &id.release, &id.dist, &id.environment, &id.sdk.Name, &id.sdk.Version} {
		*name = clip(*name, maxNameBytes)
	}
	return id
}

func (id identity) fill(resource pcommon.Map, src Source) {
	name, version := splitRelease(strings.TrimSpace(id.release))
	putText(resource, keyServiceName, firstText(name, "sentry-project-"+src.ProjectID))
	putText(resource, keyServiceVersion, version)
	putText(resource, keyEnvironment, id.environment)
	putText(resource, keySDKName, id.sdk.Name)
	putText(resource, keySDKVersion, id.sdk.Version)
	putText(resource, keySDKLanguage, platforms[id.platform].language)
	putText(resource, keyProject, src.ProjectID)
	putText(resource, keyPlatform, id.platform)
	putText(resource, keyRelease, id.release)
	putText(resource, keyDist, id.dist)
	if id.machine != nil {
		fillMachine(resource, id.machine)
	}
	src.configure(resource)
}

// configure sets what is configured for the resources of the project, in place of what payloads say.
func (src Source) configure(resource pcommon.Map) {
	for _, configured := range src.Resource {
		configured.Value.CopyTo(resource.PutEmpty(configured.Key))
	}
}

// splitRelease splits "package@version" as Sentry does; an npm scope at the front is part of the package. Without an @ the
// whole release is a version.
func splitRelease(release string) (name, version string) {
	if len(release) > 1 {
		if at := strings.IndexByte(release[1:], '@'); at >= 0 {
			return release[:at+1], release[at+2:]
		}
	}
	return "", release
}

// fillMachine adds what a V1 profile says about the machine it was taken on.
func fillMachine(resource pcommon.Map, p *sentry.Profile) {
	architecture := deref(p.Device.Architecture)
	putText(resource, keyHostArch, hostArch(architecture))
	if hostArch(architecture) != architecture {
		putText(resource, keyDeviceArch, architecture)
	}
	putText(resource, keyManufacturer, deref(p.Device.Manufacturer))
	putText(resource, keyDeviceModel, deref(p.Device.Model))
	putText(resource, keyDeviceLocale, deref(p.Device.Locale))
	if p.Device.IsEmulator != nil {
		resource.PutBool(keyDeviceSimulator, *p.Device.IsEmulator)
	}
	putText(resource, keyOSType, osTypes[strings.ToLower(deref(p.OS.Name))])
	putText(resource, keyOSName, deref(p.OS.Name))
	putText(resource, keyOSVersion, deref(p.OS.Version))
	putText(resource, keyOSBuild, deref(p.OS.BuildNumber))
	putText(resource, keyRuntimeName, p.Runtime.Name)
	putText(resource, keyRuntimeVersion, p.Runtime.Version)
}

// putText sets an attribute unless the text is empty: to Sentry, empty and absent are the same. The text is copied: it may
// be a view into a request.
func putText(m pcommon.Map, key, text string) {
	putShared(m, key, strings.Clone(text))
}

// putShared is putText for a text of which there is a copy already.
func putShared(m pcommon.Map, key, text string) {
	if text != "" {
		m.PutStr(key, text)
	}
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
