# SPDX-License-Identifier: Apache-2.0
"""Writes random Perfetto traces and what a slow reader makes of them, over the protos of the PyPI package perfetto.

    python oracle.py SEED...    one line of JSON for each seed: the trace in base64, and its samples

The reader has no caches and no indices: it resolves every sample from the tables as they are at its packet. Its rules are those of
sentry-java's and Relay's documentation of Perfetto profiles; where it goes beyond Relay (clocks of packets, names of threads,
addresses), those of the comments in the protos.
"""

import base64
import json
import random
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

REALTIME, BOOTTIME, MONOTONIC, SEQUENCE_CLOCK = 1, 6, 3, 64
UNIX = 1_771_278_043_000_000_000
TABLES = ("function_names", "mapping_paths", "build_ids", "source_paths", "mappings", "frames", "callstacks")


def generate(r):
    trace = pb.Trace()
    ids = {s: {t: [] for t in TABLES} for s in range(3)}
    if r.random() < 0.9:
        snapshot(r, trace, r.choice([None, None, BOOTTIME, MONOTONIC, REALTIME]))
    for _ in range(r.randint(1, 60)):
        kind = r.random()
        packet = trace.packet.add()
        sequence = r.randrange(3)
        if sequence or r.random() < 0.5:
            packet.trusted_packet_sequence_id = sequence
        if kind < 0.3:
            tables(r, packet, ids[sequence])
        elif kind < 0.36:
            trace.packet.pop()
            snapshot(r, trace, r.choice([None, BOOTTIME, REALTIME]), sequence)
        elif kind < 0.42:
            names(r, packet)
        elif kind < 0.46:
            packet.trace_packet_defaults.timestamp_clock_id = r.choice([REALTIME, BOOTTIME, MONOTONIC, SEQUENCE_CLOCK, 9])
            if r.random() < 0.5:
                packet.trace_packet_defaults.perf_sample_defaults.timebase.frequency = r.choice([0, 101, 1000])
        else:
            if r.random() < 0.1:
                tables(r, packet, ids[sequence])
            sample(r, packet, ids[sequence])
        if r.random() < 0.04:
            packet.sequence_flags = r.choice([1, 2, 3])
        if r.random() < 0.05:
            packet.service_event.tracing_started = True  # fields and kinds of packets that are not read
    return trace


def snapshot(r, trace, primary, sequence=0):
    packet = trace.packet.add()
    packet.trusted_packet_sequence_id = sequence
    cs = packet.clock_snapshot
    if primary is not None:
        cs.primary_trace_clock = primary
    now = r.randint(0, 10**10)
    for clock, base in ((REALTIME, UNIX), (BOOTTIME, 10**15), (MONOTONIC, 5 * 10**14), (SEQUENCE_CLOCK, 10**6)):
        if r.random() < 0.85:
            c = cs.clocks.add(clock_id=clock, timestamp=base + now)
            if clock == SEQUENCE_CLOCK:
                c.timestamp = base + now // 1000
                c.unit_multiplier_ns = 1000


def new_id(r, ids, table):
    if ids[table] and r.random() < 0.2:
        return r.choice(ids[table])  # replaces
    ids[table].append(len(ids[table]) + (300 if r.random() < 0.2 else 0))
    return ids[table][-1]


def some_id(r, ids, table):
    if ids[table] and r.random() < 0.93:
        return r.choice(ids[table])
    return r.choice([999, len(ids[table])])  # the second one may follow


TEXTS = {
    "function_names": ["_ZN3art6Thread", "com.example.Shop.open", "com.example.Shop$Cart.add", "lambda", "", "a.b."],
    "mapping_paths": ["system", "lib64", "libc.so", "base.odex", "app.jar", "[anon_shmem:dalvik-jit-code-cache]", ""],
    "build_ids": [bytes(range(20)), b"\x01\x02\x03\x04", b"\xff" * 16, b""],
    "source_paths": ["src/a.cc", "Shop.kt"],
}


def tables(r, packet, ids):
    data = packet.interned_data
    for table, texts in TEXTS.items():
        for _ in range(r.randrange(3)):
            text = r.choice(texts)
            getattr(data, table).add(iid=new_id(r, ids, table), str=text if isinstance(text, bytes) else text.encode())
    for _ in range(r.randrange(3)):
        m = data.mappings.add(iid=new_id(r, ids, "mappings"))
        m.path_string_ids.extend(some_id(r, ids, "mapping_paths") for _ in range(r.randrange(4)))
        for field, value in (("build_id", some_id(r, ids, "build_ids")), ("start", 0x7000), ("end", 0x9000),
                             ("exact_offset", r.choice([0, 0x1000, 0x400])), ("start_offset", r.choice([0, 0x800])),
                             ("load_bias", r.choice([0, 0x4000]))):
            if r.random() < 0.8:
                setattr(m, field, value)
    for _ in range(r.randrange(4)):
        f = data.frames.add(iid=new_id(r, ids, "frames"))
        for field, value in (("function_name_id", some_id(r, ids, "function_names")), ("mapping_id", some_id(r, ids, "mappings")),
                             ("rel_pc", r.choice([0, 0x10, 0x5010, 2**64 - 1])), ("line_number", 7),
                             ("source_path_iid", some_id(r, ids, "source_paths"))):
            if r.random() < 0.7:
                setattr(f, field, value)
    for _ in range(r.randrange(3)):
        c = data.callstacks.add(iid=new_id(r, ids, "callstacks"))
        c.frame_ids.extend(some_id(r, ids, "frames") for _ in range(r.randrange(6)))


def names(r, packet):
    for _ in range(r.randint(1, 3)):
        if r.random() < 0.5:
            packet.process_tree.threads.add(tid=40 + r.randrange(4), name="tree %d" % r.randrange(9), tgid=40)
        else:
            packet.track_descriptor.thread.tid = 40 + r.randrange(4)
            packet.track_descriptor.thread.thread_name = "track %d" % r.randrange(9)
            return


def sample(r, packet, ids):
    packet.timestamp = 10**15 + r.randint(0, 10**10) if r.random() < 0.9 else r.randint(0, 10**7)
    if r.random() < 0.2:
        packet.timestamp_clock_id = r.choice([REALTIME, BOOTTIME, MONOTONIC, SEQUENCE_CLOCK, 9])
    s = packet.perf_sample
    s.pid, s.tid, s.cpu = 40, 40 + r.randrange(4), r.randrange(8)
    if r.random() < 0.95:
        s.callstack_iid = some_id(r, ids, "callstacks")
    if r.random() < 0.5:
        s.cpu_mode = r.randrange(6)
    if r.random() < 0.2:
        s.unwind_error = r.randrange(16)
    if r.random() < 0.1:
        s.sample_skipped_reason = r.randrange(5)
    if r.random() < 0.05:
        s.kernel_records_lost = 7
    if r.random() < 0.05:
        s.producer_event.source_stop_reason = 1


def read(data):
    trace = pb.Trace.FromString(data)
    state, offsets, thread_names, pids = {}, {}, {}, {}
    samples, period = [], 0
    lost = {"skipped": 0, "stacks": 0, "clocks": 0, "frames": 0}
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.sequence_flags & 1:
            state.pop(sequence, None)
        s = state.setdefault(sequence, {"clock": 0, "period": 0, **{t: {} for t in TABLES}})
        if packet.HasField("trace_packet_defaults"):
            d = packet.trace_packet_defaults
            if d.HasField("timestamp_clock_id"):
                s["clock"] = d.timestamp_clock_id
            if d.perf_sample_defaults.timebase.frequency:
                s["period"] = 10**9 // d.perf_sample_defaults.timebase.frequency
        for table in TABLES:
            for entry in getattr(packet.interned_data, table):
                s[table][entry.iid] = entry
        if packet.HasField("clock_snapshot"):
            learn(offsets, sequence, packet.clock_snapshot)
        for t in packet.process_tree.threads:
            thread_names[t.tid] = t.name
        if packet.HasField("track_descriptor") and packet.track_descriptor.thread.thread_name:
            thread_names[packet.track_descriptor.thread.tid] = packet.track_descriptor.thread.thread_name
        if not packet.HasField("perf_sample"):
            continue
        p = packet.perf_sample
        if p.HasField("kernel_records_lost") or p.HasField("producer_event") or p.sample_skipped_reason == 4:
            continue  # "several distinct views of this message", perf_sample.proto
        if not p.HasField("callstack_iid"):
            lost["skipped"] += 1
            continue
        stack = s["callstacks"].get(p.callstack_iid)
        ids = stack.frame_ids if stack else []
        known = [s["frames"][i] for i in ids if i in s["frames"]]
        lost["frames"] += len(ids) - len(known)
        if not known:
            lost["stacks"] += 1
            continue
        period = period or s["period"]
        clock = packet.timestamp_clock_id or s["clock"]
        key = (sequence if 64 <= clock < 128 else 0, clock)
        pids.setdefault(p.tid, p.pid)
        samples.append((key, packet.timestamp, p.tid, p.cpu_mode, p.unwind_error, [resolve(s, f) for f in reversed(known)]))
    out = []
    for key, at, tid, mode, error, stack in samples:
        if key[1] == REALTIME:
            unix = at
        elif key in offsets:
            reading, now, multiplier = offsets[key]
            unix = now + (at - reading) * multiplier
        else:
            unix = -1
        if not 0 <= unix < 2**33 * 10**9:
            lost["clocks"] += 1
            continue
        name = "main" if pids[tid] == tid else thread_names.get(tid, "")
        out.append({"time": unix, "tid": tid, "thread": name, "mode": mode, "unwind": error, "stack": stack})
    out.sort(key=lambda s: s["time"])
    return {"samples": out, "period": period if out else 0, "lost": lost}


def learn(offsets, sequence, cs):
    primary = cs.primary_trace_clock or BOOTTIME
    if primary == REALTIME:
        offsets.setdefault((0, 0), (0, 0, 1))
    unix = [c.timestamp for c in cs.clocks if c.clock_id == REALTIME]
    if not unix:
        return
    for c in cs.clocks:
        if c.clock_id == REALTIME:
            continue
        offset = (c.timestamp, unix[-1], c.unit_multiplier_ns or 1)
        offsets.setdefault((sequence if 64 <= c.clock_id < 128 else 0, c.clock_id), offset)
        if c.clock_id == primary:
            offsets.setdefault((0, 0), offset)


def resolve(s, frame):
    text = lambda table, of, field: s[table][getattr(of, field)].str if of.HasField(field) and getattr(of, field) in s[table] else b""
    m = s["mappings"].get(frame.mapping_id) if frame.HasField("mapping_id") else None
    path, out = b"", {}
    if m:
        path = b""
        for i in m.path_string_ids:
            if i in s["mapping_paths"]:
                path += (b"/" if path else b"") + s["mapping_paths"][i].str
    java = path.endswith((b".oat", b".odex", b".vdex", b".jar", b".dex")) or b"dalvik-jit-code-cache" in path
    out["function"] = text("function_names", frame, "function_name_id").decode()
    out["file"] = text("source_paths", frame, "source_path_iid").decode()
    out["line"] = frame.line_number
    out["path"] = path.decode()
    out["build_id"] = text("build_ids", m, "build_id").hex() if m else ""
    out["java"] = java
    out["address"] = 0
    if frame.HasField("rel_pc") and not java:
        start, bias, offset = (m.start, m.load_bias, max(m.exact_offset - m.start_offset, 0) if m.HasField("exact_offset") else 0) if m else (0, 0, 0)
        address = frame.rel_pc - bias - offset
        if 0 <= frame.rel_pc - bias and 0 <= address and address + start < 2**64:
            out["address"] = address + start
    return out


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        data = generate(random.Random(int(seed))).SerializeToString()
        print(json.dumps({"trace": base64.b64encode(data).decode(), **read(data)}, separators=(",", ":")))
