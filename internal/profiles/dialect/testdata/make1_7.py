# SPDX-License-Identifier: Apache-2.0
"""Writes profiles of OTLP 1.7 with the protocol types of PyPI's opentelemetry-proto 1.39.0."""
import sys
from opentelemetry.proto.profiles.v1development import profiles_pb2 as p
from opentelemetry.proto.common.v1 import common_pb2 as c

T = 1795223440000000000

def message(samples, types=((1, 2),), **profile):
    m = p.ProfilesData()
    d = m.dictionary
    d.string_table.extend(["", "samples", "count", "cpu", "nanoseconds", "main", "query", "thread.name", "By", "app"])
    d.mapping_table.add(memory_start=4096, memory_limit=8192, filename_strindex=9, has_functions=True)
    for name in (5, 6):
        d.function_table.add(name_strindex=name)
    d.location_table.add(mapping_index=0, address=5000, is_folded=True, attribute_indices=[1]).line.add(function_index=0, line=3)
    d.location_table.add().line.add(function_index=1)
    d.attribute_table.add(key="thread.name", value=c.AnyValue(string_value="main"))
    d.attribute_table.add(key="size", value=c.AnyValue(int_value=12))
    d.string_table.append("size")
    d.attribute_units.add(attribute_key_strindex=10, unit_strindex=8)
    d.link_table.add(trace_id=bytes([1] * 16), span_id=bytes([1] * 8))
    r = m.resource_profiles.add()
    r.resource.attributes.add(key="service.name", value=c.AnyValue(string_value="shop"))
    s = r.scope_profiles.add()
    s.scope.name, s.scope.version = "old-profiler", "0.7"
    f = s.profiles.add(time_nanos=T, duration_nanos=1000000000, period=10000000, location_indices=[0, 1, 0, 0], comment_strindices=[5], default_sample_type_index=0,
                       profile_id=bytes(range(16)), attribute_indices=[1], original_payload_format="jfr", original_payload=b"x", **profile)
    for name, unit in types:
        f.sample_type.add(type_strindex=name, unit_strindex=unit, aggregation_temporality=p.AGGREGATION_TEMPORALITY_DELTA)
    f.period_type.type_strindex, f.period_type.unit_strindex = 3, 4
    for sample in samples:
        f.sample.add(**sample)
    return m.SerializeToString()

out = sys.argv[1]
leaf = dict(locations_start_index=1, locations_length=2)
root = dict(locations_start_index=0, locations_length=1)
for name, m in {
    "totals": message([dict(value=[70], attribute_indices=[0], link_index=0, **leaf), dict(value=[3], **root)]),
    "types": message([dict(value=[7, 70000000], attribute_indices=[0], **leaf), dict(value=[1, 3000000000], **root)], types=((1, 2), (3, 4))),
    "times": message([dict(value=[1], timestamps_unix_nano=[T, T + 5], **leaf), dict(value=[1], timestamps_unix_nano=[T + 7], **root)]),
    "points": message([dict(value=[70, 80], timestamps_unix_nano=[T, T + 5], **leaf), dict(value=[3], timestamps_unix_nano=[T + 7], **root)]),
    "ambiguous": message([dict(value=[70], timestamps_unix_nano=[T, T + 5], **leaf)]),
    "outside": message([dict(value=[70], locations_start_index=3, locations_length=2)]),
}.items():
    open(f"{out}/{name}.pb", "wb").write(m)
