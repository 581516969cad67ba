// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import "time"

// defaultDedupAge allows for SDKs with an offline cache, which resend data when the application
// next starts.
const defaultDedupAge = 24 * time.Hour

// reasonResent is the reason for dropping items and spans that were accepted before.
const reasonResent = "resent"
