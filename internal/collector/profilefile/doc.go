// SPDX-License-Identifier: Apache-2.0

// Package profilefile reads files of any format that contains profiles: those of other tools, whose
// readers are below internal/profiles, OTLP, and envelopes of Sentry SDKs. The tool and the viewer
// share it.
package profilefile
