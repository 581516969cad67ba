// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// connectionTypes are the values of network.connection.type. The convention has none for vpn;
// opentelemetry-android also sends "vpn".
var connectionTypes = map[string]string{"wifi": "wifi", "cellular": "cell", "no_network": "unavailable", "unknown": "unknown", "vpn": "vpn"}

// unknownWord is the text that SDKs send for unknown values.
const unknownWord = "unknown"

func putKnown(m pcommon.Map, key, text string) {
	if text != unknownWord {
		attr.PutText(m, key, text)
	}
}

// putMoment sets the attributes of every record and span that change while an app runs.
func putMoment(m pcommon.Map, session measure.ID, a *measure.Attributes, src Source) {
	attr.PutText(m, semconv.SessionID, session.String())
	attr.PutText(m, semconv.UserID, a.UserID)
	attr.PutText(m, semconv.ThreadName, a.ThreadName)
	attr.PutText(m, semconv.NetworkConnectionType, connectionTypes[a.NetworkType])
	putKnown(m, semconv.NetworkCarrierName, a.NetworkProvider)
	putKnown(m, semconv.MeasureNetworkGeneration, a.NetworkGeneration)
	attr.PutText(m, semconv.MeasureDeviceLocale, strings.ReplaceAll(a.DeviceLocale, "_", "-")) // BCP 47
	putTrue(m, semconv.MeasureDeviceLowPowerMode, a.LowPowerMode)
	putTrue(m, semconv.MeasureDeviceThermalThrottling, a.ThermalThrottling)
	if a.SessionStartTime.Set {
		m.PutInt(semconv.MeasureSessionStartTime, int64(a.SessionStartTime.UnixNano))
	}
	attr.PutText(m, semconv.ClientAddress, src.ClientAddress)
}

// putUserAttributes sets the attributes that the app defines. Their keys contain no dots, so they
// never collide with conventional keys; validation has bounded their number.
func putUserAttributes(m pcommon.Map, u measure.UserAttributes, src Source) {
	for _, pair := range u.Pairs {
		attr.SetJSON(m.PutEmpty(src.UserPrefix+pair.Key), pair.Value)
	}
}

// putAttachments lists the files of an event.
func putAttachments(m pcommon.Map, attachments []measure.Attachment) {
	if len(attachments) == 0 {
		return
	}
	ids, types, names := m.PutEmptySlice(semconv.MeasureAttachmentIDs), pcommon.NewSlice(), pcommon.NewSlice()
	for i := range attachments {
		ids.AppendEmpty().SetStr(attachments[i].ID.String())
		types.AppendEmpty().SetStr(attachments[i].Type)
		names.AppendEmpty().SetStr(attachments[i].Name)
	}
	types.MoveAndAppendTo(m.PutEmptySlice(semconv.MeasureAttachmentTypes))
	names.MoveAndAppendTo(m.PutEmptySlice(semconv.MeasureAttachmentNames))
}

// classOnly returns the class name without its package.
func classOnly(class string) string {
	return class[strings.LastIndexByte(class, '.')+1:]
}

// putScreen sets the screen of a class.
func putScreen(m pcommon.Map, class string) {
	attr.PutText(m, semconv.AppScreenName, classOnly(class))
	attr.PutText(m, semconv.AppScreenID, class)
}
