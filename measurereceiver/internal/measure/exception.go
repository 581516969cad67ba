// SPDX-License-Identifier: Apache-2.0

package measure

import "encoding/json"

// Exception is the payload of "exception" and "anr".
type Exception struct {
	Handled    *bool  `json:"handled"`  // older SDKs, instead of severity
	Severity   string `json:"severity"` // fatal, unhandled, handled
	Foreground *bool  `json:"foreground"`
	Framework  string `json:"framework"` // jvm, apple, dart, js; absent from Android's own SDK
	IsCustom   bool   `json:"is_custom"`

	Exceptions   []ExceptionUnit `json:"exceptions"` // outermost first, then causes
	Threads      []Thread        `json:"threads"`    // without the crashed thread
	BinaryImages []BinaryImage   `json:"binary_images"`

	NumCode Int             `json:"num_code"`
	Code    string          `json:"code"` // domain of an NSError
	Meta    json.RawMessage `json:"meta"`
	Error   *ExceptionError `json:"error"` // the same three fields in older SDKs
}

// ExceptionError has the fields of an NSError.
type ExceptionError struct {
	NumCode Int             `json:"numcode"`
	Code    string          `json:"code"`
	Meta    json.RawMessage `json:"meta"`
}

// ExceptionUnit is one exception of a chain.
type ExceptionUnit struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Frames  []Frame `json:"frames"` // top of the stack first

	// Apple only.
	Signal         string `json:"signal"`
	ThreadName     string `json:"thread_name"`
	ThreadSequence Int    `json:"thread_sequence"`
	OSBuildNumber  string `json:"os_build_number"`
}

// Thread is another thread at the time of the exception.
type Thread struct {
	Name     string  `json:"name"`
	Sequence Int     `json:"sequence"` // Apple only
	Frames   []Frame `json:"frames"`
}

// Frame is one of three kinds: jvm and plain dart frames have names, js frames have a position in
// the bundle, and apple and obfuscated dart frames have an address.
type Frame struct {
	ClassName  string `json:"class_name"`
	MethodName string `json:"method_name"`
	ModuleName string `json:"module_name"`
	FileName   string `json:"file_name"`
	Line       Int    `json:"line_num"` // negative for native methods of the JVM
	Column     Int    `json:"col_num"`
	InApp      *bool  `json:"in_app"`

	InstructionAddress string `json:"instruction_address"` // 0x…
	FrameIndex         Int    `json:"frame_index"`
	BinaryName         string `json:"binary_name"`
	BinaryAddress      string `json:"binary_address"` // hex without 0x
	SymbolAddress      string `json:"symbol_address"` // of the instruction, 16 hex digits
	Offset             Int    `json:"offset"`         // of the instruction in the binary
}

// BinaryImage is a binary mapped into the process.
type BinaryImage struct {
	StartAddr string `json:"start_addr"` // hex without 0x
	EndAddr   string `json:"end_addr"`
	BaseAddr  string `json:"base_addr"` // dart
	System    *bool  `json:"system"`
	Name      string `json:"name"`
	Arch      string `json:"arch"`
	UUID      string `json:"uuid"`
	Path      string `json:"path"`
}

// Frameworks of exceptions.
const (
	FrameworkJVM   = "jvm"
	FrameworkApple = "apple"
	FrameworkDart  = "dart"
	FrameworkJS    = "js"
)

// EffectiveFramework returns the framework, or derives it if it is absent: a signal, or error data
// without exceptions, means apple.
func (e *Exception) EffectiveFramework() string {
	if e.Framework != "" {
		return e.Framework
	}
	for i := range e.Exceptions {
		if e.Exceptions[i].Signal != "" {
			return FrameworkApple
		}
	}
	if len(e.Exceptions) == 0 && e.hasErrorData() {
		return FrameworkApple
	}
	return FrameworkJVM
}

func (e *Exception) hasErrorData() bool {
	return e.Error != nil || e.Code != "" || e.NumCode.Set
}

// Severities of exceptions.
const (
	SeverityFatal     = "fatal"
	SeverityUnhandled = "unhandled"
	SeverityHandled   = "handled"
)

// EffectiveSeverity returns the severity, or derives it from `handled` of older SDKs.
func (e *Exception) EffectiveSeverity() string {
	switch {
	case e.Severity != "":
		return e.Severity
	case e.Handled != nil && *e.Handled:
		return SeverityHandled
	}
	return SeverityFatal
}

// Data returns code, number and details of the error from either of the two positions.
func (e *Exception) Data() ExceptionError {
	data := ExceptionError{NumCode: e.NumCode, Code: e.Code, Meta: e.Meta}
	if e.Error != nil {
		if !data.NumCode.Set {
			data.NumCode = e.Error.NumCode
		}
		if data.Code == "" {
			data.Code = e.Error.Code
		}
		if len(data.Meta) == 0 || isNull(data.Meta) {
			data.Meta = e.Error.Meta
		}
	}
	if isNull(data.Meta) {
		data.Meta = nil
	}
	return data
}

// AppExit describes how an earlier process ended (Android 11 and later). The session and app
// version of the event are those of that process.
type AppExit struct {
	Reason      string `json:"reason"` // CRASH; in the published document REASON_CRASH
	Importance  string `json:"importance"`
	Trace       string `json:"trace"` // text of all threads, after an ANR
	ProcessName string `json:"process_name"`
	PID         Text   `json:"pid"`
	Timestamp   Text   `json:"timestamp"` // in the published document; no SDK sends it, and the backend ignores it
}
