// SPDX-License-Identifier: Apache-2.0

package measure

// eventType holds the rules for a type: the operating systems that may send it, and the functions
// that find and check its payload.
type eventType struct {
	android, apple bool
	present        func(*Event) bool
	check          func(*checks, *Event)
}

const (
	onAndroid    = true
	onApple      = true
	notSupported = false
)

// eventTypes are the types that the backend knows. Lenient validation forwards other types
// unchanged.
var eventTypes = map[string]eventType{
	TypeANR:                     {onAndroid, notSupported, func(e *Event) bool { return e.ANR != nil }, checkANR},
	TypeException:               {onAndroid, onApple, func(e *Event) bool { return e.Exception != nil }, checkException},
	TypeAppExit:                 {onAndroid, notSupported, func(e *Event) bool { return e.AppExit != nil }, checkAppExit},
	TypeGestureClick:            {onAndroid, onApple, func(e *Event) bool { return e.GestureClick != nil }, func(c *checks, e *Event) { c.gesture(e.GestureClick) }},
	TypeGestureLongClick:        {onAndroid, onApple, func(e *Event) bool { return e.GestureLongClick != nil }, func(c *checks, e *Event) { c.gesture(e.GestureLongClick) }},
	TypeGestureScroll:           {onAndroid, onApple, func(e *Event) bool { return e.GestureScroll != nil }, func(c *checks, e *Event) { c.gesture(e.GestureScroll) }},
	TypeLifecycleActivity:       {onAndroid, notSupported, func(e *Event) bool { return e.LifecycleActivity != nil }, checkActivity},
	TypeLifecycleFragment:       {onAndroid, notSupported, func(e *Event) bool { return e.LifecycleFragment != nil }, checkFragment},
	TypeLifecycleViewController: {onAndroid, onApple, func(e *Event) bool { return e.LifecycleViewController != nil }, checkViewController},
	TypeLifecycleSwiftUI:        {onAndroid, onApple, func(e *Event) bool { return e.LifecycleSwiftUI != nil }, checkSwiftUI},
	TypeLifecycleApp:            {onAndroid, onApple, func(e *Event) bool { return e.LifecycleApp != nil }, checkApp},
	TypeColdLaunch:              {onAndroid, onApple, func(e *Event) bool { return e.ColdLaunch != nil }, checkColdLaunch},
	TypeWarmLaunch:              {onAndroid, onApple, func(e *Event) bool { return e.WarmLaunch != nil }, func(c *checks, e *Event) { c.launch(e.WarmLaunch) }},
	TypeHotLaunch:               {onAndroid, onApple, func(e *Event) bool { return e.HotLaunch != nil }, checkHotLaunch},
	TypeNetworkChange:           {onAndroid, onApple, func(e *Event) bool { return e.NetworkChange != nil }, checkNetworkChange},
	TypeHTTP:                    {onAndroid, onApple, func(e *Event) bool { return e.HTTP != nil }, checkHTTP},
	TypeMemoryUsage:             {onAndroid, notSupported, func(e *Event) bool { return e.MemoryUsage != nil }, noRules},
	TypeMemoryUsageAbsolute:     {onAndroid, onApple, func(e *Event) bool { return e.MemoryUsageAbsolute != nil }, noRules},
	TypeLowMemory:               {onAndroid, notSupported, func(e *Event) bool { return e.LowMemory != nil }, noRules},
	TypeTrimMemory:              {onAndroid, notSupported, func(e *Event) bool { return e.TrimMemory != nil }, checkTrimMemory},
	TypeCPUUsage:                {onAndroid, onApple, func(e *Event) bool { return e.CPUUsage != nil }, checkCPUUsage},
	TypeNavigation:              {onAndroid, notSupported, func(e *Event) bool { return e.Navigation != nil }, checkNavigation},
	TypeScreenView:              {onAndroid, onApple, func(e *Event) bool { return e.ScreenView != nil }, checkScreenView},
	TypeString:                  {onAndroid, onApple, func(e *Event) bool { return e.String != nil }, checkString},
	TypeLog:                     {onAndroid, onApple, func(e *Event) bool { return e.Log != nil }, checkLog},
	TypeCustom:                  {onAndroid, onApple, func(e *Event) bool { return e.Custom != nil }, checkCustom},
	TypeBugReport:               {onAndroid, onApple, func(e *Event) bool { return e.BugReport != nil }, checkBugReport},
	TypeSessionStart:            {onAndroid, onApple, func(*Event) bool { return true }, noRules}, // iOS sends no payload
	TypeProfile:                 {onAndroid, notSupported, func(e *Event) bool { return e.Profile != nil }, noRules},
}

func noRules(*checks, *Event) {}

// check returns the first rule that the event breaks, nil for none.
func (e *Event) check(mode Validation) *Invalid {
	c := &checks{label: e.Label()}
	family := e.Attribute.Family()
	if family == FamilyUnknown {
		c.fail(ReasonOS, "os_name must be android, ios or ipados")
	}
	kind, known := eventTypes[e.Type]
	known = known && (kind.android && family == Android || kind.apple && family == Apple)
	switch {
	case e.Type == "" || len(e.Type) > 32:
		c.fail(ReasonType, "type has %d bytes, must have 1 to 32", len(e.Type))
	case !known && mode == Strict:
		c.fail(ReasonType, "not a type of this operating system")
	}
	if !e.ID.Set() {
		c.fail(ReasonID, "id must be a UUID")
	}
	if !e.Timestamp.Set {
		c.fail(ReasonTimestamp, "timestamp must be a time in RFC 3339")
	}
	c.flaws(mode, e.mistyped)
	c.attributes(&e.Attribute, maxManufacturer)
	if start := e.Attribute.SessionStartTime; start.Set && start.UnixNano > e.Timestamp.UnixNano {
		c.fail(ReasonAttribute, "session_start_time must not be after timestamp")
	}
	c.userAttributes(&e.UserDefined)
	c.userAttributes(&e.LegacyUserDefined)
	c.attachments(e.Attachments)
	if kind.present != nil { // in lenient mode the same rules apply to other systems
		if kind.present(e) {
			kind.check(c, e)
		} else {
			c.fail(ReasonPayload, "%s must be an object", e.Type)
		}
	}
	return c.broken
}

func (c *checks) attachments(all []Attachment) {
	const r = ReasonAttachment
	if len(all) > maxAttachments {
		c.fail(r, "%d attachments, at most %d", len(all), maxAttachments)
	}
	for i := range all {
		if !all[i].ID.Set() {
			c.fail(r, "id must be a UUID")
		}
		if all[i].Name == "" {
			c.fail(r, "name must not be empty")
		}
		if FileType(all[i].Type).index() < 0 {
			c.fail(r, "type is not known")
		}
	}
}
