package translate

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// ProfileToProfiles translates a V1 profile.
func ProfileToProfiles(p *sentry.Profile, src Source) pprofile.Profiles {
	return pprofile.NewProfiles()
}

// ChunkToProfiles translates a V2 chunk.
func ChunkToProfiles(c *sentry.Chunk, src Source) pprofile.Profiles {
	return pprofile.NewProfiles()
}
