// SPDX-License-Identifier: Apache-2.0

package measure

import "encoding/json"

// Event is one element of "events", or the content of an "event" part. The key of the payload is
// the type.
//
// Not decoded: timestampInMillis of old iOS SDKs, which repeats the timestamp.
type Event struct {
	ID            ID         `json:"id"` // stable across retries
	SessionID     ID         `json:"session_id"`
	Timestamp     Time       `json:"timestamp"`
	Type          string     `json:"type"`
	UserTriggered bool       `json:"user_triggered"` // the app called the API
	Attribute     Attributes `json:"attribute"`

	UserDefined       UserAttributes `json:"user_defined_attribute"`
	LegacyUserDefined UserAttributes `json:"user_defined_attributes"` // iOS before 0.6

	Attachments []Attachment `json:"attachments"`

	Exception *Exception `json:"exception"` // exception.go
	ANR       *Exception `json:"anr"`
	AppExit   *AppExit   `json:"app_exit"`

	CPUUsage            *CPUUsage            `json:"cpu_usage"` // usage.go
	MemoryUsage         *MemoryUsage         `json:"memory_usage"`
	MemoryUsageAbsolute *MemoryUsageAbsolute `json:"memory_usage_absolute"`
	LowMemory           *MemoryUsage         `json:"low_memory"`
	TrimMemory          *TrimMemory          `json:"trim_memory"`

	LifecycleActivity       *Lifecycle `json:"lifecycle_activity"` // lifecycle.go
	LifecycleFragment       *Lifecycle `json:"lifecycle_fragment"`
	LifecycleViewController *Lifecycle `json:"lifecycle_view_controller"`
	LifecycleSwiftUI        *Lifecycle `json:"lifecycle_swift_ui"`
	LifecycleApp            *Lifecycle `json:"lifecycle_app"`
	ColdLaunch              *Launch    `json:"cold_launch"`
	WarmLaunch              *Launch    `json:"warm_launch"`
	HotLaunch               *Launch    `json:"hot_launch"`

	GestureClick     *Gesture `json:"gesture_click"` // interaction.go
	GestureLongClick *Gesture `json:"gesture_long_click"`
	GestureScroll    *Gesture `json:"gesture_scroll"`

	Navigation    *Navigation    `json:"navigation"`
	ScreenView    *ScreenView    `json:"screen_view"`
	NetworkChange *NetworkChange `json:"network_change"`
	HTTP          *HTTP          `json:"http"`
	Log           *Log           `json:"log"`
	String        *String        `json:"string"`
	Custom        *Custom        `json:"custom"`
	BugReport     *BugReport     `json:"bug_report"`
	Profile       *Profile       `json:"profile"`

	// Unknown is the unchanged payload of any other type, nil for the types above.
	Unknown json.RawMessage `json:"-"`

	mistyped bool // a field had the wrong type
}

// Types of events.
const (
	TypeANR                     = "anr"
	TypeException               = "exception"
	TypeAppExit                 = "app_exit"
	TypeGestureClick            = "gesture_click"
	TypeGestureLongClick        = "gesture_long_click"
	TypeGestureScroll           = "gesture_scroll"
	TypeLifecycleActivity       = "lifecycle_activity"
	TypeLifecycleFragment       = "lifecycle_fragment"
	TypeLifecycleViewController = "lifecycle_view_controller"
	TypeLifecycleSwiftUI        = "lifecycle_swift_ui"
	TypeLifecycleApp            = "lifecycle_app"
	TypeColdLaunch              = "cold_launch"
	TypeWarmLaunch              = "warm_launch"
	TypeHotLaunch               = "hot_launch"
	TypeNetworkChange           = "network_change"
	TypeHTTP                    = "http"
	TypeMemoryUsage             = "memory_usage"
	TypeMemoryUsageAbsolute     = "memory_usage_absolute"
	TypeLowMemory               = "low_memory"
	TypeTrimMemory              = "trim_memory"
	TypeCPUUsage                = "cpu_usage"
	TypeNavigation              = "navigation"
	TypeScreenView              = "screen_view"
	TypeString                  = "string"
	TypeLog                     = "log"
	TypeCustom                  = "custom"
	TypeBugReport               = "bug_report"
	TypeSessionStart            = "session_start"
	TypeProfile                 = "profile"
)

// Labels of items in counters, in addition to the types of events.
const (
	LabelSpan    = "span"
	LabelUnknown = "unknown" // types unknown to the backend
)

// Label returns the type for counters: one of a bounded set.
func (e *Event) Label() string {
	if _, known := eventTypes[e.Type]; known {
		return e.Type
	}
	return LabelUnknown
}

// Attachment announces a file of an event. Not decoded: extension and timestamp of old SDKs, and
// the path on the device.
type Attachment struct {
	ID    ID     `json:"id"`
	Type  string `json:"type"` // FileType; the content often has another type
	Name  string `json:"name"`
	Size  Int    `json:"size"`  // bytes; newer SDKs only
	Bytes string `json:"bytes"` // base64 of the content; iOS before 0.6
}
