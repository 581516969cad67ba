// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// frameBuilder creates the locations of frames. Class and method are separate, as in frames of
// Sentry's Java SDK.
type frameBuilder struct {
	b          *dictionary.Builder
	jvm, elf   []dictionary.AttributeIndex // of every frame of Java, and of native code
	inApp      [2]dictionary.AttributeIndex
	names      []javaName                          // by text of a Perfetto trace
	buildIDs   map[int32]dictionary.AttributeIndex // likewise
	lines      [1]dictionary.Line                  // scratch
	attributes []dictionary.AttributeIndex         // scratch
}

// Sentry's platforms for the code of a frame.
const (
	platformJava   = "java"
	platformNative = "native"
)

// unknownMethod is the name of methods for which a trace has only the ID.
const unknownMethod = "unknown"

// method translates a method of an ART trace.
func (f *frameBuilder) method(m arttrace.Method) dictionary.LocationIndex {
	f.java(m.Class, inapp.IsJVMLibrary(m.Class))
	f.text(semconv.SentryFrameSignature, m.Signature)
	if m.Class == "" && m.Name == "" {
		m.Name = unknownMethod
		f.text(semconv.AndroidMethodID, "0x"+strconv.FormatUint(uint64(m.ID), 16))
	}
	return f.location(dictionary.Location{}, m.Name, m.File, m.Line)
}

// java sets the first attributes of a Java frame.
func (f *frameBuilder) java(class string, library bool) {
	f.start(&f.jvm, platformJava)
	f.text(semconv.SentryFrameModule, class)
	if class == "" {
		return
	}
	of := &f.inApp[0]
	if library {
		of = &f.inApp[1]
	}
	if *of == 0 {
		*of = f.b.AttrBool(semconv.SentryFrameInApp, !library)
	}
	f.attributes = append(f.attributes, *of)
}

// sampled translates a frame of a Perfetto trace, in which names of Java methods begin with the
// class.
func (f *frameBuilder) sampled(t *perfetto.Trace, frame perfetto.Frame, mapping dictionary.MappingIndex) dictionary.LocationIndex {
	name, file := t.Strings[frame.Function], t.Strings[frame.File]
	m := &t.Mappings[frame.Mapping]
	if m.Java {
		java := f.javaName(t, frame.Function)
		f.java(java.class, java.library)
		f.text(semconv.SentryFramePackage, t.Strings[m.Path]) // as Sentry's ingest does
		return f.location(dictionary.Location{}, java.method, file, frame.Line)
	}
	f.start(&f.elf, platformNative)
	f.text(semconv.SentryFramePackage, t.Strings[m.Path])
	location := dictionary.Location{}
	if address, ok := t.Address(frame); ok {
		location.Address, location.Mapping = address, mapping
	}
	return f.location(location, name, file, frame.Line)
}

// javaName is the name of a Java method. It is read once, however many frames refer to it.
type javaName struct {
	class, method string
	library, read bool
}

func (f *frameBuilder) javaName(t *perfetto.Trace, text int32) *javaName {
	if f.names == nil {
		f.names = make([]javaName, len(t.Strings))
	}
	name := &f.names[text]
	if !name.read {
		name.read, name.method = true, t.Strings[text]
		if dot := strings.LastIndexByte(name.method, '.'); dot > 0 {
			name.class, name.method = name.method[:dot], name.method[dot+1:]
			name.library = inapp.IsJVMLibrary(name.class)
		}
	}
	return name
}

// start starts with the attributes of every frame of a platform.
func (f *frameBuilder) start(ofAll *[]dictionary.AttributeIndex, platform string) {
	if *ofAll == nil {
		*ofAll = append(*ofAll, f.b.AttrString(semconv.ProfileFrameType, attr.Platforms[platform].FrameType),
			f.b.AttrString(semconv.SentryFramePlatform, platform))
	}
	f.attributes = append(f.attributes[:0], *ofAll...)
}

func (f *frameBuilder) text(key, text string) {
	if text != "" {
		f.attributes = append(f.attributes, f.b.SharedAttr(key, text))
	}
}

func (f *frameBuilder) location(l dictionary.Location, name, file string, line uint32) dictionary.LocationIndex {
	f.lines[0] = dictionary.Line{Line: int64(line)}
	f.lines[0].Function = f.b.Function(dictionary.Function{Name: f.b.SharedString(name), Filename: f.b.SharedString(file)})
	if f.lines[0] != (dictionary.Line{}) {
		l.Lines = f.lines[:]
	}
	l.Attributes = f.attributes
	return f.b.Location(l)
}

// mapping translates a segment of native code. It returns 0 without a build ID, which identifies
// the file. The offset is the offset in the ELF file, which may be inside an APK: symbols are found
// by build ID and by addresses in the ELF file.
func (f *frameBuilder) mapping(t *perfetto.Trace, m *perfetto.Mapping) dictionary.MappingIndex {
	buildID := t.Strings[m.BuildID]
	if m.Java || buildID == "" || m.End <= m.Start {
		return 0
	}
	b := f.b
	attributes := []dictionary.AttributeIndex{f.buildID(t, m.BuildID)}
	if m.LoadBias != 0 {
		attributes = append(attributes, b.AttrString(semconv.SentryImageVMAddr, "0x"+strconv.FormatUint(m.LoadBias, 16)))
	}
	return b.Mapping(dictionary.Mapping{
		Start: m.Start, Limit: m.End, FileOffset: m.Offset, Filename: b.SharedString(t.Strings[m.Path]), Attributes: attributes,
	})
}

func (f *frameBuilder) buildID(t *perfetto.Trace, text int32) dictionary.AttributeIndex {
	known, ok := f.buildIDs[text]
	if !ok {
		if f.buildIDs == nil {
			f.buildIDs = map[int32]dictionary.AttributeIndex{}
		}
		known = f.b.AttrString(semconv.ProcessExecutableBuildIDGNU, hex.EncodeToString([]byte(t.Strings[text])))
		f.buildIDs[text] = known
	}
	return known
}
