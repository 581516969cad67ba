// SPDX-License-Identifier: Apache-2.0

package sentry

// ClientSDK is the SDK that sent the data. The lists "packages" and "integrations" that java adds
// are not decoded: ingest drops them.
type ClientSDK struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
