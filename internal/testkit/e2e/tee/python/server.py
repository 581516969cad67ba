"""Sets up a server that is compatible with Sentry in the current folder (PyPI: bugsink), or prints its issues.

setup PORT PROJECT...: prints the DSNs of the projects as JSON.
issues: prints all issues as JSON, with their events.
"""
import os
import subprocess
import sys

SETUP = """
import json
from projects.models import Project
print(json.dumps([Project.objects.create(name=name, slug=f"project-{i}").dsn for i, name in enumerate(%r)]))
"""
ISSUES = """
import json
from events.models import Event
from issues.models import Grouping, Issue
print(json.dumps([{
    "project": i.project.name,
    "type": i.calculated_type,
    "value": i.calculated_value,
    "groups": sorted(g.grouping_key for g in Grouping.objects.filter(issue=i)),
    "events": [e.get_parsed_data() for e in Event.objects.filter(issue=i).order_by("digest_order")],
} for i in Issue.objects.order_by("calculated_type", "calculated_value")]))
"""


def run(script, *arguments, **options):
    program = f"from bugsink.scripts.{script} import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], check=True, **options)


os.environ["DJANGO_SETTINGS_MODULE"] = "bugsink_conf"
command, *arguments = sys.argv[1:]
if command == "setup":
    port, *projects = arguments
    run("create_conf", "--template=local", "--host=127.0.0.1", f"--port={port}", stdout=sys.stderr)
    run("manage", "migrate", "--verbosity=0", stdout=sys.stderr)
    run("manage", "migrate", "--verbosity=0", "--database=snappea", stdout=sys.stderr)
run("manage", "shell", "--verbosity=0", "-c", SETUP % (projects,) if command == "setup" else ISSUES)
