// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// Keys by OpenTelemetry's conventions that only Measure's events need. Names of ours are "measure." and the field, and stand
// where they are set.
const (
	keyAppBuild       = "app.build_id"
	keyInstallation   = "app.installation.id"
	keySessionID      = "session.id"
	keyUserID         = "user.id"
	keyRecordUID      = "log.record.uid"
	keyConnectionType = "network.connection.type"
	keyCarrierName    = "network.carrier.name"
	keyScreenName     = "app.screen.name"
	keyScreenID       = "app.screen.id"
	keyClientAddress  = "client.address"
	keyErrorType      = "error.type"
)

// connectionTypes are the words of network.connection.type. It has none for vpn, and opentelemetry-android says so too.
var connectionTypes = map[string]string{"wifi": "wifi", "cellular": "cell", "no_network": "unavailable", "unknown": "unknown", "vpn": "vpn"}

// unknownWord is what SDKs send for what they do not know.
const unknownWord = "unknown"

func putKnown(m pcommon.Map, key, text string) {
	if text != unknownWord {
		attr.PutText(m, key, text)
	}
}

// putMoment sets what every record and span says about the moment: all that changes while an app runs.
func putMoment(m pcommon.Map, session measure.ID, a *measure.Attributes, src Source) {
	attr.PutText(m, keySessionID, session.String())
	attr.PutText(m, keyUserID, a.UserID)
	attr.PutText(m, attr.KeyThreadName, a.ThreadName)
	attr.PutText(m, keyConnectionType, connectionTypes[a.NetworkType])
	putKnown(m, keyCarrierName, a.NetworkProvider)
	putKnown(m, "measure.network.generation", a.NetworkGeneration)
	attr.PutText(m, "measure.device.locale", strings.ReplaceAll(a.DeviceLocale, "_", "-")) // BCP 47
	putTrue(m, "measure.device.low_power_mode", a.LowPowerMode)
	putTrue(m, "measure.device.thermal_throttling", a.ThermalThrottling)
	if a.SessionStartTime.Set {
		m.PutInt("measure.session.start_time", int64(a.SessionStartTime.UnixNano))
	}
	attr.PutText(m, keyClientAddress, src.ClientAddress)
}

// putUserAttributes sets what the app has set itself. Its keys have no dots, so that they meet none of ours; validation has
// bounded their number.
func putUserAttributes(m pcommon.Map, u measure.UserAttributes, src Source) {
	for _, pair := range u.Pairs {
		attr.SetJSON(m.PutEmpty(src.UserPrefix+pair.Key), pair.Value)
	}
}

// putAttachments names the files of an event.
func putAttachments(m pcommon.Map, attachments []measure.Attachment) {
	if len(attachments) == 0 {
		return
	}
	ids, types, names := m.PutEmptySlice("measure.attachment.ids"), pcommon.NewSlice(), pcommon.NewSlice()
	for i := range attachments {
		ids.AppendEmpty().SetStr(attachments[i].ID.String())
		types.AppendEmpty().SetStr(attachments[i].Type)
		names.AppendEmpty().SetStr(attachments[i].Name)
	}
	types.MoveAndAppendTo(m.PutEmptySlice("measure.attachment.types"))
	names.MoveAndAppendTo(m.PutEmptySlice("measure.attachment.names"))
}

// classOnly is the class name without its package.
func classOnly(class string) string {
	return class[strings.LastIndexByte(class, '.')+1:]
}

// putScreen sets the screen that a class stands for.
func putScreen(m pcommon.Map, class string) {
	attr.PutText(m, keyScreenName, classOnly(class))
	attr.PutText(m, keyScreenID, class)
}
