package translate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

var exportOptions = ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-sentry", Version: "0.1.0"}}

func TestSmokeRoundTrip(t *testing.T) {
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			d := sentry.AcquireDecoder()
			switch item.Header.Type {
			case sentry.ItemProfileChunk:
				c, err := d.Chunk(item.Payload)
				require.NoError(t, err)
				out := ProfilesToChunks(ChunkToProfiles(c, Source{ProjectID: "1", PeriodType: "wall"}), exportOptions)
				t.Log(request.Name, len(out.Items), len(item.Payload), out.Lost, out.Flaws)
				for _, o := range out.Items {
					checkIngest(t, request.Name, &o.Item)
				}
			case sentry.ItemProfile:
				c, err := d.Profile(item.Payload)
				require.NoError(t, err)
				out := ProfilesToChunks(ProfileToProfiles(c, Source{ProjectID: "1", PeriodType: "wall"}), exportOptions)
				for _, o := range out.Items {
					checkIngest(t, request.Name, &o.Item)
				}
			}
			d.Release()
		}
	}
}

func TestSmokeTraces(t *testing.T) {
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			switch {
			case item.Header.Type == sentry.ItemTransaction:
				c, err := sentry.DecodeTransaction(item.Payload)
				require.NoError(t, err)
				out := TracesToTransactions(TransactionToTraces(c, Source{ProjectID: "1"}), exportOptions)
				require.Len(t, out.Items, 1)
				require.Empty(t, ingestSpansVerdict(&out.Items[0]), request.Name)
			case item.Header.Type == sentry.ItemSpan && item.Header.ContentType == sentry.ContentTypeSpans:
				c, err := sentry.DecodeSpans(item.Payload, item.Header.ItemCount)
				require.NoError(t, err)
				for _, only := range []bool{true, false} {
					o := exportOptions
					o.SpansOnly = only
					out := TracesToTransactions(SpansToTraces(c, Source{ProjectID: "1"}), o)
					for i := range out.Items {
						require.Empty(t, ingestSpansVerdict(&out.Items[i]), request.Name)
					}
				}
			}
		}
	}
}
