# Prints what Sentry's own processing (PyPI vroomrs) makes of profile chunks: for each file named on the command line, a line of JSON with
# [module, function, calls, self time, total time, stack, parent] of all call paths, with times in ns, and the fingerprints of the path and of
# the one above it. Chunks have what ingest adds to them.
import json
import sys

import vroomrs

for name in sys.argv[1:]:
    text = open(name).read()
    chunk = json.loads(text)
    profile = vroomrs.profile_chunk_from_json_str_and_version(text, chunk["version"])
    profile.normalize()
    rows = []
    for f in profile.extract_functions_metrics(min_depth=0, filter_system_frames=False, max_unique_functions=None,
                                               filter_non_leaf_functions=False, generate_stack_fingerprints=True):
        rows.append([f.get_package(), f.get_function(), len(f.get_total_times_ns()), f.get_sum_self_time_ns(), sum(f.get_total_times_ns()),
                     f.get_stack_fingerprint(), f.get_parent_fingerprint()])
    print(json.dumps(rows))
