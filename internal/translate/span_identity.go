package translate

import "github.com/otelcol-sentry/otelcol-sentry/internal/sentry"

func transactionIdentity(t *sentry.Transaction, src Source) identity {
	return identity{platform: t.Platform, release: t.Release, dist: t.Dist, environment: t.Environment, sdk: t.SDK}.completed(src)
}

// standaloneIdentity is that of a span without a transaction: browsers name release and environment in its data.
func standaloneIdentity(s *sentry.Span, src Source) identity {
	return identity{
		platform:    s.Platform,
		release:     firstText(dataText(s.Data, keyRelease), dataText(s.Data, "release")),
		environment: firstText(dataText(s.Data, keySDKEnvironment), dataText(s.Data, "environment")),
	}.completed(src)
}

// containerIdentity is that of streamed spans: SDKs repeat it in the attributes, some of it on segments only. The resource has
// what the first span that tells says, and a span only what differs from it.
func containerIdentity(c *sentry.SpanContainer, src Source) (id identity) {
	for i := range c.Spans {
		for j := range c.Spans[i].Attributes {
			a := &c.Spans[i].Attributes[j]
			if said := id.attribute(a.Key); said != nil && *said == "" {
				*said = jsonText(a.Value)
			}
		}
	}
	return id.completed(src)
}

// attribute is the part of the identity that an attribute of a streamed span states, nil for others.
func (id *identity) attribute(key string) *string {
	switch key {
	case keyRelease:
		return &id.release
	case keyDist:
		return &id.dist
	case keyPlatform:
		return &id.platform
	case keySDKEnvironment:
		return &id.environment
	case keyStreamedSDK:
		return &id.sdk.Name
	case keyStreamedVersion:
		return &id.sdk.Version
	}
	return nil
}

// states says whether the resource says this already.
func (id *identity) states(a *sentry.Attribute) bool {
	said := id.attribute(a.Key)
	return said != nil && *said != "" && *said == jsonText(a.Value)
}
