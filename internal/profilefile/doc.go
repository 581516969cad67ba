// SPDX-License-Identifier: Apache-2.0

// Package profilefile reads files in all formats that contain profiles: the formats of other tools,
// whose readers are below internal/profiles, OTLP, and envelopes of Sentry SDKs. The command-line
// tool and the viewer share it.
package profilefile
