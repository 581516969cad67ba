# Times Sentry's library, the package symbolic of PyPI, on symbol files: reading or indexing a file, and lookups.
# In: a line of JSON {"kind": "source map" | "ELF" | "mapping", "file": path, "script": path, "places": [[...], ...]}. Out: JSON {"open", "lookups", "misses": CPU seconds, "found": number}.
# misses are lookups that find nothing: mostly the cost of the calls from Python.
import json
import sys
import time

from symbolic import Archive, SourceMapCache
from symbolic.proguard import ProguardMapper


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


for request in sys.stdin:
    request = json.loads(request)
    kind, file, places = request["kind"], request["file"], request["places"]
    if kind == "source map":
        script, text = open(request["script"], "rb").read(), open(file, "rb").read()
        opened, cache = timed(lambda: SourceMapCache.from_bytes(script, text))
        look, miss = lambda p: cache.lookup(p[0], p[1], 0), [1 << 30, 1]
    elif kind == "ELF":
        opened, cache = timed(lambda: Archive.open(file).get_object(arch="x86_64").make_symcache())
        look, miss = lambda p: cache.lookup(p[0]), [(1 << 32) - 2]
    else:
        opened, cache = timed(lambda: ProguardMapper.open(file, initialize_param_mapping=True))
        look, miss = lambda p: cache.remap_frame(p[0], p[1], p[2]), ["no.such.Class", "a", 1]
    lookups, found = timed(lambda: sum(1 for p in places if look(p)))
    misses, _ = timed(lambda: [look(miss) for _ in places])
    print(json.dumps({"open": opened, "lookups": lookups, "misses": misses, "found": found}), flush=True)
