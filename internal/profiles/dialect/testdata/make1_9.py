# SPDX-License-Identifier: Apache-2.0
"""Writes profiles of OTLP 1.9 with the protocol types of PyPI's opentelemetry-proto 1.40.0."""
import sys
from opentelemetry.proto.profiles.v1development import profiles_pb2 as p
from opentelemetry.proto.common.v1 import common_pb2 as c

def message(samples, links=0):
    m = p.ProfilesData()
    d = m.dictionary
    d.string_table.extend(["", "samples", "count", "cpu", "nanoseconds", "main", "query", "thread.name"])
    d.mapping_table.add(); d.link_table.add(); d.attribute_table.add(); d.function_table.add(); d.location_table.add(); d.stack_table.add()
    for name in (5, 6):
        d.function_table.add(name_strindex=name)
        d.location_table.add().lines.add(function_index=name - 4)
    d.stack_table.add(location_indices=[1]); d.stack_table.add(location_indices=[2, 1])
    for name in ("main", "pool-1"):
        d.attribute_table.add(key_strindex=7, value=c.AnyValue(string_value=name))
    for i in range(links):
        d.link_table.add(trace_id=bytes([i + 1] * 16), span_id=bytes([i + 1] * 8))
    r = m.resource_profiles.add()
    r.resource.attributes.add(key="service.name", value=c.AnyValue(string_value="shop"))
    s = r.scope_profiles.add()
    s.scope.name, s.scope.version = "old-profiler", "0.9"
    f = s.profiles.add(time_unix_nano=1795223440000000000, duration_nano=1000000000, period=10000000)
    f.sample_type.type_strindex, f.sample_type.unit_strindex = 1, 2
    f.period_type.type_strindex, f.period_type.unit_strindex = 3, 4
    for sample in samples:
        f.samples.add(**sample)
    return m.SerializeToString()

T = 1795223440000000000
out = sys.argv[1]
for name, m in {
    "totals": message([dict(stack_index=1, values=[70]), dict(stack_index=2, values=[3])]),
    "linked": message([dict(stack_index=1, values=[70], link_index=1), dict(stack_index=2, values=[3], link_index=2)], links=2),
    "points": message([dict(stack_index=1, values=[70, 80], timestamps_unix_nano=[T, T + 5]), dict(stack_index=2, values=[3], timestamps_unix_nano=[T + 7], link_index=1)], links=1),
    "timestamps": message([dict(stack_index=1, timestamps_unix_nano=[T, T + 5]), dict(stack_index=2, timestamps_unix_nano=[T + 7])]),
    "attributes": message([dict(stack_index=1, values=[70], attribute_indices=[1]), dict(stack_index=2, values=[3], attribute_indices=[2])]),
    "large": message([dict(stack_index=1, values=[3_000_000_000])]),
}.items():
    open(f"{out}/{name}.pb", "wb").write(m)
