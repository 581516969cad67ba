// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

const (
	bytesPerKiB = 1024
	msPerSecond = 1000
)

// bytesOf gives the bytes of a number of KiB.
func bytesOf(kib measure.Int) (int64, bool) {
	return kib.Value * bytesPerKiB, kib.Set && kib.Value >= 0 && kib.Value <= math.MaxInt64/bytesPerKiB
}

// ToMetrics translates the events that measure something, each with the time it was taken at: nothing is added up and
// no rate is computed, since events come days late and in any order. It says how many events gave no data point.
func ToMetrics(events []measure.Event, src Source) (out pmetric.Metrics, empty []*measure.Event) {
	out = pmetric.NewMetrics()
	places := newByResource(func(r measureResource) *measureMetrics {
		resource := out.ResourceMetrics().AppendEmpty()
		r.fill(resource.Resource().Attributes(), src)
		scope := resource.ScopeMetrics().AppendEmpty()
		scope.Scope().SetName(measureScope)
		return &measureMetrics{scope: scope, src: src, points: map[string]pmetric.NumberDataPointSlice{}}
	})
	for i := range events {
		e := &events[i]
		if SignalOf(e) != MeasureMetric && e.Type != measure.TypeLowMemory {
			continue
		}
		m := places.of(&e.Attribute)
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
			m.size("process.memory.usage", upDown, e.MemoryUsageAbsolute.UsedMemory)
			m.size("system.memory.limit", upDown, e.MemoryUsageAbsolute.MaxMemory)
		}
		if m.count == before && e.Type != measure.TypeLowMemory {
			empty = append(empty, e)
		}
	}
	out.ResourceMetrics().RemoveIf(func(r pmetric.ResourceMetrics) bool { return r.ScopeMetrics().At(0).Metrics().Len() == 0 })
	return out, empty
}

// measureMetrics collects the points of one resource, one metric of each name.
type measureMetrics struct {
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

// measureTexts are what the metrics say, by name.
var measureTexts = map[string]attr.MetricText{
	"process.cpu.utilization":            {Name: "process.cpu.utilization", Description: "Share of the device's CPUs that the app used.", Unit: "1"},
	"process.cpu.time":                   {Name: "process.cpu.time", Description: "CPU time of the app's process.", Unit: "s"},
	"process.uptime":                     {Name: "process.uptime", Description: "Time that the app's process has been running.", Unit: "s"},
	"process.memory.usage":               {Name: "process.memory.usage", Description: "Physical memory in use by the app's process.", Unit: "By"},
	"system.memory.limit":                {Name: "system.memory.limit", Description: "Memory of the device.", Unit: "By"},
	"measure.process.memory.pss":         {Name: "measure.process.memory.pss", Description: "Proportional set size of the app's process.", Unit: "By"},
	"measure.process.memory.native.size": {Name: "measure.process.memory.native.size", Description: "Size of the native heap.", Unit: "By"},
	"measure.process.memory.native.free": {Name: "measure.process.memory.native.free", Description: "Free part of the native heap.", Unit: "By"},
	"jvm.memory.used":                    {Name: "jvm.memory.used", Description: "Used part of the Java heap.", Unit: "By"},
	"jvm.memory.committed":               {Name: "jvm.memory.committed", Description: "Size of the Java heap.", Unit: "By"},
	"jvm.memory.limit":                   {Name: "jvm.memory.limit", Description: "Largest size that the Java heap may have.", Unit: "By"},
}

func (m *measureMetrics) point(name string, kind metricKind) pmetric.NumberDataPoint {
	points, known := m.points[name]
	if !known {
		metric := attr.NewMetric(m.scope, measureTexts[name])
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
		attr.PutText(p.Attributes(), keySessionID, m.event.SessionID.String())
	}
	return p
}

// size sets a number of KiB in bytes; 0 is what SDKs send when they do not know.
func (m *measureMetrics) size(name string, kind metricKind, kib measure.Int) {
	if bytes, ok := bytesOf(kib); ok && bytes > 0 {
		m.point(name, kind).SetIntValue(bytes)
	}
}

func (m *measureMetrics) memory(u *measure.MemoryUsage) {
	m.size("process.memory.usage", upDown, u.RSS)
	m.size("measure.process.memory.pss", gauge, u.TotalPSS)
	m.size("measure.process.memory.native.size", gauge, u.NativeTotalHeap)
	m.size("measure.process.memory.native.free", gauge, u.NativeFreeHeap)
	total, hasTotal := bytesOf(u.JavaTotalHeap)
	if free, ok := bytesOf(u.JavaFreeHeap); ok && hasTotal && total > 0 {
		m.heap("jvm.memory.used", max(0, total-free))
	}
	if hasTotal && total > 0 {
		m.heap("jvm.memory.committed", total)
	}
	if limit, ok := bytesOf(u.JavaMaxHeap); ok && limit > 0 {
		m.heap("jvm.memory.limit", limit)
	}
}

func (m *measureMetrics) heap(name string, bytes int64) {
	p := m.point(name, upDown)
	p.SetIntValue(bytes)
	p.Attributes().PutStr("jvm.memory.type", "heap")
}

// maxTicks is the most clock ticks per second that any kernel counts; iOS sends the CPU's Hz in the same field.
const maxTicks = 10_000

func (m *measureMetrics) cpu(u *measure.CPUUsage) {
	if share := u.PercentageUsage.Value / 100; u.PercentageUsage.Set && share >= 0 {
		if m.event.Attribute.Family() == measure.Apple {
			share /= float64(u.NumCores.Value) // it is of one core there; validation has made sure that there are some
		}
		m.point("process.cpu.utilization", gauge).SetDoubleValue(share)
	}
	ticks := float64(u.ClockSpeed.Value)
	if m.event.Attribute.Family() != measure.Android || ticks > maxTicks || u.Uptime.Value <= 0 {
		return
	}
	uptime := float64(u.Uptime.Value)/msPerSecond - float64(u.StartTime.Value)/ticks
	if uptime < 0 || uint64(uptime*1e9) >= m.event.Timestamp.UnixNano {
		return
	}
	m.point("process.uptime", gauge).SetDoubleValue(uptime)
	start := m.event.Timestamp.UnixNano - uint64(uptime*msPerSecond)*1e6
	m.cpuTime("user", u.UserTime, ticks, start)
	m.cpuTime("system", u.SystemTime, ticks, start)
}

func (m *measureMetrics) cpuTime(mode string, spent measure.Int, ticks float64, start uint64) {
	if !spent.Set || spent.Value < 0 {
		return
	}
	p := m.point("process.cpu.time", counter)
	p.SetStartTimestamp(pcommon.Timestamp(start))
	p.SetDoubleValue(float64(spent.Value) / ticks)
	p.Attributes().PutStr("cpu.mode", mode)
}
