// SPDX-License-Identifier: Apache-2.0

package measure

// Gesture is the payload of "gesture_click", "gesture_long_click" and "gesture_scroll". Lengths are
// in pixels on Android and in points on iOS.
type Gesture struct {
	Target        string `json:"target"`    // class of the view
	TargetID      string `json:"target_id"` // name of the resource, accessibility id
	Label         string `json:"label"`
	SemanticLabel string `json:"semantic_label"`
	TouchDown     Int    `json:"touch_down_time"` // ms since boot
	TouchUp       Int    `json:"touch_up_time"`
	X             Float  `json:"x"`
	Y             Float  `json:"y"`

	Width  Int `json:"width"` // clicks
	Height Int `json:"height"`

	EndX      Float  `json:"end_x"` // scroll
	EndY      Float  `json:"end_y"`
	Direction string `json:"direction"` // left, right, up, down
}

// Navigation is the payload of "navigation", from Android before 0.9.
type Navigation struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Source string `json:"source"`
}

// ScreenView is the payload of "screen_view".
type ScreenView struct {
	Name string `json:"name"`
}

// NetworkChange is the payload of "network_change".
type NetworkChange struct {
	Type               string `json:"network_type"`
	PreviousType       string `json:"previous_network_type"`
	Generation         string `json:"network_generation"`
	PreviousGeneration string `json:"previous_network_generation"`
	Provider           string `json:"network_provider"`
}

// HTTP is the payload of "http": a request by the app.
type HTTP struct {
	URL                string  `json:"url"`
	Method             string  `json:"method"` // lower case
	StatusCode         Int     `json:"status_code"`
	StartTime          Int     `json:"start_time"` // ms since boot; manually tracked requests: or since 1970
	EndTime            Int     `json:"end_time"`
	RequestHeaders     Headers `json:"request_headers"`
	ResponseHeaders    Headers `json:"response_headers"`
	RequestBody        string  `json:"request_body"` // for configured URLs only
	ResponseBody       string  `json:"response_body"`
	FailureReason      string  `json:"failure_reason"`
	FailureDescription string  `json:"failure_description"`
	Client             string  `json:"client"` // okhttp, URLSession, dio, …
}

// Log is the payload of "log".
type Log struct {
	SeverityText   string `json:"severity_text"`
	SeverityNumber Int    `json:"severity_number"` // 8, 12, 16, 20, 24
	Body           string `json:"body"`
}

// String is the payload of "string", the predecessor of "log".
type String struct {
	SeverityText string `json:"severity_text"`
	String       string `json:"string"`
}

// Custom is the payload of "custom".
type Custom struct {
	Name string `json:"name"`
}

// BugReport is the payload of "bug_report"; its screenshots are attachments.
type BugReport struct {
	Description string `json:"description"`
}

// Profile is the payload of "profile": the attachment is a profile from Android's profiling
// service.
type Profile struct {
	Reason string `json:"reason"` // app_fully_drawn, anr
	Format string `json:"format"` // FileType of the attachment
}
