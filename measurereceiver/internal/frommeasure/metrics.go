// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

const (
	bytesPerKiB = 1024
	msPerSecond = 1000
)

// bytesOf converts KiB to bytes. It reports false if the number is absent or out of range.
func bytesOf(kib measure.Int) (int64, bool) {
	return kib.Value * bytesPerKiB, kib.Set && kib.Value >= 0 && kib.Value <= math.MaxInt64/bytesPerKiB
}

// ToMetrics translates measuring events to data points with the event's time. It neither sums nor
// computes rates, because events arrive days late and in any order. It also returns the events
// without a data point.
func ToMetrics(events []measure.Event, src Source) (out pmetric.Metrics, empty []*measure.Event) {
	out = pmetric.NewMetrics()
	entries := newByResource(func(r resourceKey) *resourceMetrics {
		resource := out.ResourceMetrics().AppendEmpty()
		resource.SetSchemaUrl(semconv.SchemaURL)
		r.fill(resource.Resource().Attributes(), src)
		scope := resource.ScopeMetrics().AppendEmpty()
		scope.SetSchemaUrl(semconv.SchemaURL)
		scope.Scope().SetName(scopeName)
		return &resourceMetrics{scope: scope, src: src, points: map[string]pmetric.NumberDataPointSlice{}}
	})
	for i := range events {
		e := &events[i]
		if SignalOf(e) != SignalMetrics && e.Type != measure.TypeLowMemory {
			continue
		}
		m := entries.of(&e.Attribute)
		before := m.count
		m.event = e
		switch e.Type {
		case measure.TypeCPUUsage:
			m.cpu(e.CPUUsage)
		case measure.TypeMemoryUsage:
			m.memory(e.MemoryUsage)
		case measure.TypeLowMemory:
			m.memory(e.LowMemory)
		case measure.TypeMemoryUsageAbsolute:
			m.size(semconv.MetricProcessMemoryUsage, upDown, e.MemoryUsageAbsolute.UsedMemory)
			m.size(semconv.MetricSystemMemoryLimit, upDown, e.MemoryUsageAbsolute.MaxMemory)
		}
		if m.count == before && e.Type != measure.TypeLowMemory {
			empty = append(empty, e)
		}
	}
	out.ResourceMetrics().RemoveIf(func(r pmetric.ResourceMetrics) bool { return r.ScopeMetrics().At(0).Metrics().Len() == 0 })
	return out, empty
}

// resourceMetrics collects the points of one resource, with one metric per name.
type resourceMetrics struct {
	scope  pmetric.ScopeMetrics
	src    Source
	points map[string]pmetric.NumberDataPointSlice
	event  *measure.Event
	count  int
}

type metricKind int

const (
	gauge metricKind = iota
	upDown
	counter
)

// metricTexts describe the metrics, by name.
var metricTexts = byName(
	attr.MetricText{Name: semconv.MetricProcessCPUUtilization, Description: "Share of the device's CPUs that the app used.", Unit: "1"},
	attr.MetricText{Name: semconv.MetricProcessCPUTime, Description: "CPU time of the app's process.", Unit: "s"},
	attr.MetricText{Name: semconv.MetricProcessUptime, Description: "Time that the app's process has been running.", Unit: "s"},
	attr.MetricText{Name: semconv.MetricProcessMemoryUsage, Description: "Physical memory in use by the app's process.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricSystemMemoryLimit, Description: "Memory of the device.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricMeasureProcessMemoryPSS, Description: "Proportional set size of the app's process.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricMeasureProcessMemoryNativeSize, Description: "Size of the native heap.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricMeasureProcessMemoryNativeFree, Description: "Free part of the native heap.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricJVMMemoryUsed, Description: "Used part of the Java heap.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricJVMMemoryCommitted, Description: "Size of the Java heap.", Unit: "By"},
	attr.MetricText{Name: semconv.MetricJVMMemoryLimit, Description: "Largest size that the Java heap may have.", Unit: "By"},
)

func byName(texts ...attr.MetricText) map[string]attr.MetricText {
	all := map[string]attr.MetricText{}
	for _, text := range texts {
		all[text.Name] = text
	}
	return all
}

func (m *resourceMetrics) point(name string, kind metricKind) pmetric.NumberDataPoint {
	points, known := m.points[name]
	if !known {
		metric := attr.NewMetric(m.scope, metricTexts[name])
		switch kind {
		case gauge:
			points = metric.SetEmptyGauge().DataPoints()
		default:
			sum := metric.SetEmptySum()
			sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
			sum.SetIsMonotonic(kind == counter)
			points = sum.DataPoints()
		}
		m.points[name] = points
	}
	m.count++
	p := points.AppendEmpty()
	p.SetTimestamp(pcommon.Timestamp(m.event.Timestamp.UnixNano))
	if m.src.SessionOnMetrics {
		attr.PutText(p.Attributes(), semconv.SessionID, m.event.SessionID.String())
	}
	return p
}

// size sets a size in bytes from KiB; SDKs send 0 for unknown sizes.
func (m *resourceMetrics) size(name string, kind metricKind, kib measure.Int) {
	if bytes, ok := bytesOf(kib); ok && bytes > 0 {
		m.point(name, kind).SetIntValue(bytes)
	}
}

func (m *resourceMetrics) memory(u *measure.MemoryUsage) {
	m.size(semconv.MetricProcessMemoryUsage, upDown, u.RSS)
	m.size(semconv.MetricMeasureProcessMemoryPSS, gauge, u.TotalPSS)
	m.size(semconv.MetricMeasureProcessMemoryNativeSize, gauge, u.NativeTotalHeap)
	m.size(semconv.MetricMeasureProcessMemoryNativeFree, gauge, u.NativeFreeHeap)
	total, hasTotal := bytesOf(u.JavaTotalHeap)
	if free, ok := bytesOf(u.JavaFreeHeap); ok && hasTotal && total > 0 {
		m.heap(semconv.MetricJVMMemoryUsed, max(0, total-free))
	}
	if hasTotal && total > 0 {
		m.heap(semconv.MetricJVMMemoryCommitted, total)
	}
	if limit, ok := bytesOf(u.JavaMaxHeap); ok && limit > 0 {
		m.heap(semconv.MetricJVMMemoryLimit, limit)
	}
}

func (m *resourceMetrics) heap(name string, bytes int64) {
	p := m.point(name, upDown)
	p.SetIntValue(bytes)
	p.Attributes().PutStr(semconv.JVMMemoryType, "heap")
}

// maxTicks is the largest number of clock ticks per second of any kernel; iOS sends the CPU's Hz in
// the same field.
const maxTicks = 10_000

func (m *resourceMetrics) cpu(u *measure.CPUUsage) {
	if share := u.PercentageUsage.Value / 100; u.PercentageUsage.Set && share >= 0 {
		if m.event.Attribute.Family() == measure.Apple {
			share /= float64(u.NumCores.Value) // of one core on Apple; validation requires at least one core
		}
		m.point(semconv.MetricProcessCPUUtilization, gauge).SetDoubleValue(share)
	}
	ticks := float64(u.ClockSpeed.Value)
	if m.event.Attribute.Family() != measure.Android || ticks > maxTicks || u.Uptime.Value <= 0 {
		return
	}
	uptime := float64(u.Uptime.Value)/msPerSecond - float64(u.StartTime.Value)/ticks
	if uptime < 0 || uint64(uptime*1e9) >= m.event.Timestamp.UnixNano {
		return
	}
	m.point(semconv.MetricProcessUptime, gauge).SetDoubleValue(uptime)
	start := m.event.Timestamp.UnixNano - uint64(uptime*msPerSecond)*1e6
	m.cpuTime("user", u.UserTime, ticks, start)
	m.cpuTime("system", u.SystemTime, ticks, start)
}

func (m *resourceMetrics) cpuTime(mode string, spent measure.Int, ticks float64, start uint64) {
	if !spent.Set || spent.Value < 0 {
		return
	}
	p := m.point(semconv.MetricProcessCPUTime, counter)
	p.SetStartTimestamp(pcommon.Timestamp(start))
	p.SetDoubleValue(float64(spent.Value) / ticks)
	p.Attributes().PutStr(semconv.CPUMode, mode)
}
