// SPDX-License-Identifier: Apache-2.0

package fromsentry_test

import (
	"fmt"

	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// A chunk of a continuous profile becomes an OTLP profile. Observations of one stack on one thread
// become one sample with timestamps.
func ExampleChunkToProfiles() {
	payload := []byte(`{
		"version": "2", "platform": "python", "release": "shop@1.2.0", "environment": "staging",
		"chunk_id": "f14d1a4b2e2c4a0c9d2d5f0c1f6a7b8c", "profiler_id": "4d229f31ca0141ae9f0f4d1c0ae14d70",
		"client_sdk": {"name": "sentry.python", "version": "2.68.0"},
		"profile": {
			"samples": [
				{"timestamp": 1777629600.00, "thread_id": "7", "stack_id": 0},
				{"timestamp": 1777629600.01, "thread_id": "7", "stack_id": 0},
				{"timestamp": 1777629600.02, "thread_id": "7", "stack_id": 1}
			],
			"stacks": [[0, 1], [1]],
			"frames": [
				{"function": "price", "module": "shop.pricing", "filename": "shop/pricing.py", "lineno": 12, "in_app": true},
				{"function": "handle", "module": "shop.app", "filename": "shop/app.py", "lineno": 3, "in_app": true}
			],
			"thread_metadata": {"7": {"name": "worker"}}
		}
	}`)
	decoder := sentryprofile.AcquireDecoder()
	defer decoder.Release()
	chunk, err := decoder.Chunk(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(dictionarytest.Dump(fromsentry.ChunkToProfiles(chunk, fromsentry.Source{ProjectID: "42", PeriodType: "wall"})))
	// Output:
	// resource
	//   schema "https://opentelemetry.io/schemas/1.45.0"
	//   deployment.environment.name = "staging"
	//   sentry.platform = "python"
	//   sentry.project_id = "42"
	//   sentry.release = "shop@1.2.0"
	//   service.name = "shop"
	//   service.version = "1.2.0"
	//   telemetry.sdk.language = "python"
	//   telemetry.sdk.name = "sentry.python"
	//   telemetry.sdk.version = "2.68.0"
	// scope sentry.python version=2.68.0
	//   schema "https://opentelemetry.io/schemas/1.45.0"
	// profile f14d1a4b2e2c4a0c9d2d5f0c1f6a7b8c
	//   time      2026-05-01T10:00:00Z
	//   duration  29.900990ms
	//   samples   samples/count
	//   period    wall/nanoseconds every 9.900990ms
	//   sentry.profile.version = "2"
	//   sentry.profiler_id = "4d229f31ca0141ae9f0f4d1c0ae14d70"
	//   sample thread.id=7 thread.name="worker"
	//     2 timestamps
	//       +0.000000ms +10.000000ms
	//     stack
	//       price shop/pricing.py:12 {profile.frame.type="cpython" sentry.frame.in_app=true sentry.frame.module="shop.pricing"}
	//       handle shop/app.py:3 {profile.frame.type="cpython" sentry.frame.in_app=true sentry.frame.module="shop.app"}
	//   sample thread.id=7 thread.name="worker"
	//     1 timestamp
	//       +20.000000ms
	//     stack
	//       handle shop/app.py:3 {profile.frame.type="cpython" sentry.frame.in_app=true sentry.frame.module="shop.app"}
}
