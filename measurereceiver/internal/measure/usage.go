// SPDX-License-Identifier: Apache-2.0

package measure

// CPUUsage is the payload of "cpu_usage". On Android, ClockSpeed is in clock ticks per second and
// times are in ticks; on iOS, ClockSpeed is in Hz and times are 0.
type CPUUsage struct {
	NumCores        Int   `json:"num_cores"`
	ClockSpeed      Int   `json:"clock_speed"`
	StartTime       Int   `json:"start_time"` // of the process since boot, ticks
	Uptime          Int   `json:"uptime"`     // since boot, ms
	UserTime        Int   `json:"utime"`      // ticks
	SystemTime      Int   `json:"stime"`      // ticks
	ChildUserTime   Int   `json:"cutime"`     // of waited-for children; always 0
	ChildSystemTime Int   `json:"cstime"`
	Interval        Int   `json:"interval"`         // ms since the previous event
	PercentageUsage Float `json:"percentage_usage"` // Android: of all cores; iOS: of one
}

// MemoryUsage is the payload of "memory_usage" and "low_memory", from Android. Sizes are in KiB.
type MemoryUsage struct {
	JavaMaxHeap     Int `json:"java_max_heap"`
	JavaTotalHeap   Int `json:"java_total_heap"`
	JavaFreeHeap    Int `json:"java_free_heap"`
	TotalPSS        Int `json:"total_pss"`
	RSS             Int `json:"rss"`
	NativeTotalHeap Int `json:"native_total_heap"`
	NativeFreeHeap  Int `json:"native_free_heap"`
	Interval        Int `json:"interval"` // ms since the previous event
}

// MemoryUsageAbsolute is the payload of "memory_usage_absolute", from iOS. Sizes are in KiB.
type MemoryUsageAbsolute struct {
	MaxMemory  Int `json:"max_memory"` // of the device
	UsedMemory Int `json:"used_memory"`
	Interval   Int `json:"interval"` // ms since the previous event
}

// TrimMemory is the payload of "trim_memory".
type TrimMemory struct {
	Level string `json:"level"` // TRIM_MEMORY_…
}
