# Looks up places of source maps with Sentry's library, the package symbolic of PyPI.
# In: lines of JSON {"script", "map": paths, "places": [[line, column], ...]} from 0. Out: a line of JSON per request: [[source, line, column, name, function], ...], null = none.
import json
import sys

from symbolic import SourceMapCache, SourceMapView

for request in sys.stdin:
    request = json.loads(request)
    script, text = open(request["script"], "rb").read(), open(request["map"], "rb").read()
    view, cache = SourceMapView.from_json_bytes(text), SourceMapCache.from_bytes(script, text)
    results = []
    for line, column in request["places"]:
        token, scope = view.lookup(line, column), cache.lookup(line + 1, column + 1, 0)
        found = None
        if token is not None:
            none = token.src_id in (None, 0xFFFFFFFF)
            found = [None if none else token.src, token.src_line, token.src_col, token.name, scope and scope.function_name, token.dst_line, token.dst_col]
        results.append(found)
    print(json.dumps(results), flush=True)
