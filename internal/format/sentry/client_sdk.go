// SPDX-License-Identifier: Apache-2.0

package sentry

// ClientSDK is the SDK that sent the data. The lists "packages" and "integrations" that Java adds
// are not decoded, because ingest drops them.
type ClientSDK struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
