"""Sets up a server that is compatible with Sentry in the current folder (PyPI: bugsink), or prints its issues.

setup PORT: prints the DSNs of two projects as JSON.
issues: prints [project, type, value, events] of each issue.
"""
import os
import subprocess
import sys

SETUP = """
import json
from projects.models import Project
print(json.dumps([Project.objects.create(name=name, slug=name).dsn for name in ("direct", "tee")]))
"""
ISSUES = """
import json
from issues.models import Issue
print(json.dumps(sorted([i.project_id, i.calculated_type, i.calculated_value, i.digested_event_count] for i in Issue.objects.all())))
"""


def run(script, *arguments, **options):
    program = f"from bugsink.scripts.{script} import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], check=True, **options)


os.environ["DJANGO_SETTINGS_MODULE"] = "bugsink_conf"
if sys.argv[1] == "setup":
    run("create_conf", "--template=local", "--host=127.0.0.1", f"--port={sys.argv[2]}", stdout=sys.stderr)
    run("manage", "migrate", "--verbosity=0", stdout=sys.stderr)
    run("manage", "migrate", "--verbosity=0", "--database=snappea", stdout=sys.stderr)
run("manage", "shell", "--verbosity=0", "-c", SETUP if sys.argv[1] == "setup" else ISSUES)
