// SPDX-License-Identifier: Apache-2.0

package measure

// Rules for the payload of each type, from the backend's libs/event/event.go. Lengths are in bytes
// unless stated otherwise.

func checkANR(c *checks, e *Event) {
	if len(e.ANR.Exceptions) == 0 || len(e.ANR.Threads) == 0 {
		c.fail(ReasonPayload, "anr must have exceptions and threads")
	}
}

func checkException(c *checks, e *Event) {
	x := e.Exception
	data := x.hasErrorData()
	switch x.EffectiveFramework() {
	case FrameworkApple:
		if e.Attribute.Family() != Apple {
			c.fail(ReasonPayload, "exception.framework is apple on another system")
		}
		if !data && (len(x.Exceptions) == 0 || len(x.Threads) == 0) {
			c.fail(ReasonPayload, "exception must have exceptions and threads, or a code")
		}
		for i := range x.BinaryImages {
			image := &x.BinaryImages[i]
			if image.StartAddr == "" || image.EndAddr == "" || image.Name == "" || image.Path == "" {
				c.fail(ReasonPayload, "a binary image must have start_addr, end_addr, name and path")
			}
		}
	case FrameworkJVM:
		if len(x.Exceptions) == 0 || len(x.Threads) == 0 {
			c.fail(ReasonPayload, "exception must have exceptions and threads")
		}
	case FrameworkDart:
		if len(x.Exceptions) == 0 {
			c.fail(ReasonPayload, "exception must have exceptions")
		}
		if len(x.BinaryImages) > 1 {
			c.fail(ReasonPayload, "%d binary images, at most 1", len(x.BinaryImages))
		}
		for i := range x.BinaryImages {
			if x.BinaryImages[i].Arch == "" || x.BinaryImages[i].BaseAddr == "" {
				c.fail(ReasonPayload, "a binary image must have arch and base_addr")
			}
		}
	case FrameworkJS:
		if len(x.Exceptions) == 0 {
			c.fail(ReasonPayload, "exception must have exceptions")
		}
	default:
		c.fail(ReasonPayload, "exception.framework must be jvm, apple, dart or js")
	}
	c.meta("exception.meta", x.Meta)
	if x.Error != nil {
		c.meta("exception.error.meta", x.Error.Meta)
	}
	c.oneOf(ReasonPayload, "exception.severity", x.Severity, "", SeverityFatal, SeverityUnhandled, SeverityHandled)
}

func checkAppExit(c *checks, e *Event) {
	c.length(ReasonPayload, "app_exit.reason", e.AppExit.Reason, 1, 64)
	c.length(ReasonPayload, "app_exit.importance", e.AppExit.Importance, 1, 32)
	if e.AppExit.ProcessName == "" {
		c.fail(ReasonPayload, "app_exit.process_name must not be empty")
	}
}

// logSeverities are the allowed pairs of text and number.
var logSeverities = map[string]int64{"debug": 8, "info": 12, "warning": 16, "error": 20, "fatal": 24}

func checkLog(c *checks, e *Event) {
	c.length(ReasonPayload, "log.body", e.Log.Body, 1, 1000)
	if number, known := logSeverities[e.Log.SeverityText]; !known || e.Log.SeverityNumber.Value != number {
		c.fail(ReasonPayload, "log.severity_text and severity_number must be a pair such as info and 12")
	}
}

func checkString(c *checks, e *Event) {
	if e.String.String == "" {
		c.fail(ReasonPayload, "string.string must not be empty")
	}
	c.length(ReasonPayload, "string.severity_text", e.String.SeverityText, 0, 10)
}

func (c *checks) gesture(g *Gesture) {
	for _, coordinate := range []Float{g.X, g.Y, g.EndX, g.EndY} {
		if coordinate.Value < 0 {
			c.fail(ReasonPayload, "coordinates must not be negative")
		}
	}
	c.length(ReasonPayload, "target", g.Target, 0, 128)
	c.length(ReasonPayload, "target_id", g.TargetID, 0, 128)
	c.length(ReasonPayload, "direction", g.Direction, 0, 8)
	c.runes(ReasonPayload, "label", g.Label, 32)
	c.runes(ReasonPayload, "semantic_label", g.SemanticLabel, 32)
}

func checkActivity(c *checks, e *Event) {
	c.oneOf(ReasonPayload, "lifecycle_activity.type", e.LifecycleActivity.Type, "created", "resumed", "paused", "destroyed")
	c.length(ReasonPayload, "lifecycle_activity.class_name", e.LifecycleActivity.ClassName, 1, 128)
}

func checkFragment(c *checks, e *Event) {
	c.oneOf(ReasonPayload, "lifecycle_fragment.type", e.LifecycleFragment.Type, "attached", "resumed", "paused", "detached")
	c.length(ReasonPayload, "lifecycle_fragment.class_name", e.LifecycleFragment.ClassName, 1, 128)
	c.length(ReasonPayload, "lifecycle_fragment.parent_activity", e.LifecycleFragment.ParentActivity, 0, 128)
	c.length(ReasonPayload, "lifecycle_fragment.parent_fragment", e.LifecycleFragment.ParentFragment, 0, 128)
}

func checkViewController(c *checks, e *Event) {
	c.oneOf(ReasonPayload, "lifecycle_view_controller.type", e.LifecycleViewController.Type, "loadView", "viewDidLoad",
		"viewWillAppear", "viewDidAppear", "viewWillDisappear", "viewDidDisappear", "didReceiveMemoryWarning", "initWithNibName",
		"initWithCoder", "vcDeinit")
	c.length(ReasonPayload, "lifecycle_view_controller.class_name", e.LifecycleViewController.ClassName, 1, 256)
}

func checkSwiftUI(c *checks, e *Event) {
	c.oneOf(ReasonPayload, "lifecycle_swift_ui.type", e.LifecycleSwiftUI.Type, "on_appear", "on_disappear")
	c.length(ReasonPayload, "lifecycle_swift_ui.class_name", e.LifecycleSwiftUI.ClassName, 1, 128)
}

func checkApp(c *checks, e *Event) {
	words := []string{"background", "foreground"}
	if e.Attribute.Family() == Apple {
		words = append(words, "terminated")
	}
	c.oneOf(ReasonPayload, "lifecycle_app.type", e.LifecycleApp.Type, words...)
}

func checkColdLaunch(c *checks, e *Event) {
	l := e.ColdLaunch
	if max(l.ProcessStart.Value, l.ProcessStartRequested.Value, l.ContentProviderAttach.Value) <= 0 {
		c.fail(ReasonPayload, "cold_launch must have one of its start times")
	}
	c.launch(l)
}

func checkHotLaunch(c *checks, e *Event) {
	c.positive(ReasonPayload, "app_visible_uptime", e.HotLaunch.AppVisible)
	c.launch(e.HotLaunch)
}

func (c *checks) launch(l *Launch) {
	c.positive(ReasonPayload, "on_next_draw_uptime", l.OnNextDraw)
	c.length(ReasonPayload, "launched_activity", l.LaunchedActivity, 1, 127) // less than 128, unlike the others
}

func checkNetworkChange(c *checks, e *Event) {
	n := e.NetworkChange
	c.oneOf(ReasonPayload, "network_change.network_type", n.Type, networkTypes...)
	c.oneOf(ReasonPayload, "network_change.previous_network_type", n.PreviousType, networkTypes...)
	c.oneOf(ReasonPayload, "network_change.network_generation", n.Generation, networkGenerations...)
	c.oneOf(ReasonPayload, "network_change.previous_network_generation", n.PreviousGeneration, networkGenerations...)
	c.length(ReasonPayload, "network_change.network_provider", n.Provider, 1, 63)
}

func checkHTTP(c *checks, e *Event) {
	h := e.HTTP
	if h.URL == "" {
		c.fail(ReasonPayload, "http.url must not be empty")
	}
	c.length(ReasonPayload, "http.method", h.Method, 1, 16)
	c.length(ReasonPayload, "http.client", h.Client, 0, 32)
	if h.EndTime.Value < h.StartTime.Value {
		c.fail(ReasonPayload, "http.end_time must not be before start_time")
	}
}

func checkTrimMemory(c *checks, e *Event) {
	c.length(ReasonPayload, "trim_memory.level", e.TrimMemory.Level, 1, 64)
}

func checkCPUUsage(c *checks, e *Event) {
	c.positive(ReasonPayload, "cpu_usage.num_cores", e.CPUUsage.NumCores)
	c.positive(ReasonPayload, "cpu_usage.clock_speed", e.CPUUsage.ClockSpeed)
}

func checkNavigation(c *checks, e *Event) {
	c.length(ReasonPayload, "navigation.to", e.Navigation.To, 0, 128)
	c.length(ReasonPayload, "navigation.from", e.Navigation.From, 0, 128)
	c.length(ReasonPayload, "navigation.source", e.Navigation.Source, 0, 128)
}

func checkScreenView(c *checks, e *Event) {
	c.length(ReasonPayload, "screen_view.name", e.ScreenView.Name, 0, 1024)
}

func checkBugReport(c *checks, e *Event) {
	c.length(ReasonPayload, "bug_report.description", e.BugReport.Description, 0, 4000)
}

func checkCustom(c *checks, e *Event) {
	c.length(ReasonPayload, "custom.name", e.Custom.Name, 1, 64)
	for _, r := range e.Custom.Name {
		if notInName(r) {
			c.fail(ReasonPayload, "custom.name may only have letters, digits, _ and -")
		}
	}
}
