// SPDX-License-Identifier: Apache-2.0

package measure

// Lifecycle is the payload of the "lifecycle_…" events: a state change of an activity, fragment,
// view controller, view or app.
type Lifecycle struct {
	Type      string `json:"type"`
	ClassName string `json:"class_name"` // absent for the app

	Intent             string `json:"intent"`               // activity
	SavedInstanceState *bool  `json:"saved_instance_state"` // activity
	ParentActivity     string `json:"parent_activity"`      // fragment
	ParentFragment     string `json:"parent_fragment"`      // fragment
	Tag                string `json:"tag"`                  // fragment
}

// Launch is the payload of "cold_launch", "warm_launch" and "hot_launch". Times are in
// milliseconds: since boot on Android, since boot or since 1970 on iOS. Only their differences are
// comparable.
type Launch struct {
	ProcessStart          Int    `json:"process_start_uptime"`
	ProcessStartRequested Int    `json:"process_start_requested_uptime"`
	ContentProviderAttach Int    `json:"content_provider_attach_uptime"`
	AppVisible            Int    `json:"app_visible_uptime"` // warm and hot
	OnNextDraw            Int    `json:"on_next_draw_uptime"`
	LaunchedActivity      string `json:"launched_activity"`
	HasSavedState         *bool  `json:"has_saved_state"`
	IntentData            string `json:"intent_data"`
	IsLukewarm            bool   `json:"is_lukewarm"` // warm
}

// Milliseconds returns the duration of the launch by the backend's definition. ok is false if it is
// unknown.
func (l *Launch) Milliseconds(eventType string) (ms int64, ok bool) {
	begin := l.AppVisible.Value
	if eventType == TypeColdLaunch {
		for _, start := range []Int{l.ProcessStartRequested, l.ProcessStart, l.ContentProviderAttach} {
			if begin = start.Value; begin > 0 {
				break
			}
		}
	}
	if l.IsLukewarm || begin <= 0 || l.OnNextDraw.Value < begin {
		return 0, false
	}
	return l.OnNextDraw.Value - begin, true
}
