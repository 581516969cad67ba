# Looks up places of ProGuard mappings with Sentry's library, the package symbolic of PyPI.
# In: lines of JSON {"mapping": path, "places": [[class, method, line, parameters or null], ...]}.
# Out: a line of JSON per request: [[original class, original method if unambiguous, [[class, method, line, file], ...]], ...], null = none.
import json
import sys

from symbolic.proguard import ProguardMapper

for request in sys.stdin:
    request = json.loads(request)
    mapper = ProguardMapper.open(request["mapping"], initialize_param_mapping=True)
    results = []
    for name, method, line, parameters in request["places"]:
        unambiguous = mapper.remap_method(name, method) if method else None
        frames = [[f.class_name, f.method, f.line, f.file or ""] for f in mapper.remap_frame(name, method, line, parameters)]
        results.append([mapper.remap_class(name), unambiguous and unambiguous[1], frames])
    print(json.dumps(results), flush=True)
