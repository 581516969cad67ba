// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
)

// SDKConfig is the body of GET /config: settings that SDKs apply from their next launch on. Rates
// are percentages.
type SDKConfig struct {
	MaxEventsInBatch int `json:"max_events_in_batch" mapstructure:"max_events_in_batch"`

	// Seconds of the session's history that SDKs send with an incident.
	CrashTimeline     int `json:"crash_timeline_duration" mapstructure:"crash_timeline_duration"`
	ANRTimeline       int `json:"anr_timeline_duration" mapstructure:"anr_timeline_duration"`
	BugReportTimeline int `json:"bug_report_timeline_duration" mapstructure:"bug_report_timeline_duration"`

	TraceSamplingRate   float64  `json:"trace_sampling_rate" mapstructure:"trace_sampling_rate"`
	JourneySamplingRate float64  `json:"journey_sampling_rate" mapstructure:"journey_sampling_rate"`
	LaunchSamplingRate  float64  `json:"launch_sampling_rate" mapstructure:"launch_sampling_rate"`
	ProfileSamplingRate float64  `json:"profile_sampling_rate" mapstructure:"profile_sampling_rate"`
	HTTPSamplingRate    *float64 `json:"http_sampling_rate,omitempty" mapstructure:"http_sampling_rate"` // SDKs read it, but the backend does not send it

	ScreenshotMaskLevel string `json:"screenshot_mask_level" mapstructure:"screenshot_mask_level"`

	LogAutocollect    bool     `json:"log_autocollect_enabled" mapstructure:"log_autocollect_enabled"`
	LogMinSeverity    int      `json:"log_min_severity" mapstructure:"log_min_severity"`
	LogIgnorePatterns []string `json:"log_ignore_patterns" mapstructure:"log_ignore_patterns"`

	CPUUsageInterval    int `json:"cpu_usage_interval" mapstructure:"cpu_usage_interval"` // seconds
	MemoryUsageInterval int `json:"memory_usage_interval" mapstructure:"memory_usage_interval"`

	CrashTakeScreenshot      bool `json:"crash_take_screenshot" mapstructure:"crash_take_screenshot"`
	ANRTakeScreenshot        bool `json:"anr_take_screenshot" mapstructure:"anr_take_screenshot"`
	GestureClickTakeSnapshot bool `json:"gesture_click_take_snapshot" mapstructure:"gesture_click_take_snapshot"`

	HTTPDisableEventForURLs  []string `json:"http_disable_event_for_urls" mapstructure:"http_disable_event_for_urls"`
	HTTPTrackRequestForURLs  []string `json:"http_track_request_for_urls" mapstructure:"http_track_request_for_urls"`
	HTTPTrackResponseForURLs []string `json:"http_track_response_for_urls" mapstructure:"http_track_response_for_urls"`
	HTTPBlockedHeaders       []string `json:"http_blocked_headers" mapstructure:"http_blocked_headers"`
}

// DefaultSDKConfig returns the configuration of Measure's backend.
func DefaultSDKConfig() SDKConfig {
	return SDKConfig{
		MaxEventsInBatch: 10_000,
		CrashTimeline:    300, ANRTimeline: 300, BugReportTimeline: 300,
		TraceSamplingRate: 100, JourneySamplingRate: 100, LaunchSamplingRate: 100, ProfileSamplingRate: 100,
		ScreenshotMaskLevel: "all_text_and_media",
		LogMinSeverity:      16, LogIgnorePatterns: []string{},
		CPUUsageInterval: 5, MemoryUsageInterval: 5,
		CrashTakeScreenshot: true, ANRTakeScreenshot: true, GestureClickTakeSnapshot: true,
		HTTPDisableEventForURLs: []string{}, HTTPTrackRequestForURLs: []string{},
		HTTPTrackResponseForURLs: []string{}, HTTPBlockedHeaders: []string{},
	}
}

// Rates returns the sampling rates, which are percentages, by key.
func (c *SDKConfig) Rates() map[string]float64 {
	rates := map[string]float64{
		"trace_sampling_rate": c.TraceSamplingRate, "journey_sampling_rate": c.JourneySamplingRate,
		"launch_sampling_rate": c.LaunchSamplingRate, "profile_sampling_rate": c.ProfileSamplingRate,
	}
	if c.HTTPSamplingRate != nil {
		rates["http_sampling_rate"] = *c.HTTPSamplingRate
	}
	return rates
}

// Validate checks the configuration.
func (c *SDKConfig) Validate() error {
	rates := c.Rates()
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		if rate := rates[name]; rate < 0 || rate > 100 {
			return fmt.Errorf("%s: is %g, must be a percentage from 0 to 100", name, rate)
		}
	}
	levels := []string{"all_text_and_media", "all_text", "all_text_except_clickable", "sensitive_fields_only"}
	if !slices.Contains(levels, c.ScreenshotMaskLevel) {
		return fmt.Errorf("screenshot_mask_level: is %q, must be one of %q", c.ScreenshotMaskLevel, levels)
	}
	if c.MaxEventsInBatch < 1 || c.MaxEventsInBatch > maxItems {
		return fmt.Errorf("max_events_in_batch: is %d, must be from 1 to %d", c.MaxEventsInBatch, maxItems)
	}
	return nil
}

// Document returns the body and its ETag: the FNV-1a hash in hex, like the backend's, but in quotes
// as HTTP requires. SDKs echo either form.
func (c *SDKConfig) Document() (body []byte, etag string) {
	body, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain numbers and texts
	}
	hash := fnv.New64a()
	_, _ = hash.Write(body)
	return body, fmt.Sprintf("%q", fmt.Sprintf("%x", hash.Sum64()))
}
