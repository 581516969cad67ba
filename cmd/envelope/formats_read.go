// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/collapsed"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/cpuprofile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/firefox"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/importer"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/pprof"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/speedscope"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

type (
	readMany func([]byte, importer.Options) ([]pprofile.Profiles, []importer.Loss, error)
	readOne  func([]byte, importer.Options) (pprofile.Profiles, []importer.Loss, error)
)

// The formats.
const (
	formatSentry     = "sentry"
	formatOTLPJSON   = "otlp-json"
	formatOTLPProto  = "otlp-proto"
	formatPprof      = "pprof"
	formatSpeedscope = "speedscope"
	formatCollapsed  = "collapsed"
	formatFirefox    = "firefox"
	formatCPUProfile = "cpuprofile"
)

var readers = map[string]readMany{
	formatSentry:     readSentry,
	formatOTLPJSON:   readOTLPJSON,
	formatOTLPProto:  readOTLPProto,
	formatPprof:      single(pprof.Read),
	formatSpeedscope: single(speedscope.Read),
	formatCollapsed:  single(collapsed.Read),
	formatFirefox:    single(firefox.Read),
	formatCPUProfile: single(cpuprofile.Read),
}

func single(read readOne) readMany {
	return func(data []byte, o importer.Options) ([]pprofile.Profiles, []importer.Loss, error) {
		message, losses, err := read(data, o)
		return []pprofile.Profiles{message}, losses, err
	}
}

// recognise returns the format of an input by its content.
func recognise(in input) string {
	begin := bytes.TrimSpace(in.data[:min(len(in.data), 1<<16)])
	has := func(key string) bool { return bytes.Contains(in.data, []byte(`"`+key+`"`)) }
	switch {
	case !bytes.HasPrefix(begin, []byte("{")) && isText(begin):
		return formatCollapsed
	case !bytes.HasPrefix(begin, []byte("{")):
		return recogniseBinary(in.data)
	case speedscope.Is(begin):
		return formatSpeedscope
	case has("resourceProfiles"):
		return formatOTLPJSON
	case isEnvelope(in.data):
		return formatSentry
	case has("preprocessedProfileVersion"):
		return formatFirefox
	case has("callFrame"):
		return formatCPUProfile
	}
	return formatSentry
}

func isEnvelope(data []byte) bool {
	envelope, err := readEnvelope(data)
	return err == nil && len(envelope.Items) > 0
}

// isText reports whether the begin of a file is lines of text. Protocol Buffers have bytes below the
// blank.
func isText(begin []byte) bool {
	return !bytes.ContainsFunc(begin, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

// recogniseBinary distinguishes pprof from OTLP. Both are Protocol Buffers; only one of them has
// samples in it.
func recogniseBinary(data []byte) string {
	if _, _, err := pprof.Read(data, importer.Options{}); err == nil {
		return formatPprof
	}
	return formatOTLPProto
}

// readSentry reads the profiles of an envelope.
func readSentry(data []byte, o importer.Options) (messages []pprofile.Profiles, losses []importer.Loss, err error) {
	envelope, err := readEnvelope(data)
	if err != nil {
		return nil, nil, err
	}
	e := examine(envelope, sentryitems.DefaultSettings(), o.Start)
	for i := range e.items {
		item := &e.items[i]
		used := false
		for _, d := range item.Deliveries {
			if d.Message.Signal == pipeline.SignalProfiles {
				messages, used = append(messages, d.Message.Data().(pprofile.Profiles)), true
			}
		}
		switch name := string(item.Header.Type); {
		case item.Unusable != nil:
			losses = append(losses, importer.Loss{What: name + " that is unusable: " + item.Unusable.Error(), Count: 1})
		case !used:
			losses = append(losses, importer.Loss{What: name + " that has no profile", Count: 1})
		default:
			for _, l := range item.losses() {
				losses = append(losses, importer.Loss{What: l.what + " of a " + name + ": " + l.reason, Count: l.count})
			}
		}
	}
	if len(messages) == 0 {
		err = errors.New("it has no usable profile")
	}
	return messages, losses, err
}

// readOTLPJSON reads messages in lines, as the collector's file exporter writes them, or one in
// several lines.
func readOTLPJSON(data []byte, _ importer.Options) (messages []pprofile.Profiles, losses []importer.Loss, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, nil, err
		}
		message, err := new(pprofile.JSONUnmarshaler).UnmarshalProfiles(raw)
		if err == nil {
			message, _, err = dialect.Current(message)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", len(messages)+1, err)
		}
		messages = append(messages, message)
	}
	return messages, nil, nil
}

func readOTLPProto(data []byte, _ importer.Options) ([]pprofile.Profiles, []importer.Loss, error) {
	current, _, err := dialect.Decode(data)
	if err != nil {
		return nil, nil, err
	}
	message, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(current)
	return []pprofile.Profiles{message}, nil, err
}

// defaultTitle is the title of files whose data name no service.
const defaultTitle = "profile"

// titleOf returns the service of the first resource.
func titleOf(messages []pprofile.Profiles) string {
	for _, message := range messages {
		for _, resource := range message.ResourceProfiles().All() {
			if name, ok := resource.Resource().Attributes().Get(semconv.ServiceName); ok {
				return strings.ToValidUTF8(name.AsString(), "\uFFFD")
			}
		}
	}
	return defaultTitle
}
