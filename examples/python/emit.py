"""A child's life as JSON lines, with nothing but Python's standard library: python3 emit.py >> events.jsonl"""

import datetime
import json
import sys
import uuid

SOURCE, EPOCH, CHILD = "python-example", str(uuid.uuid4()), str(uuid.uuid4())
sequence = 0


def emit(kind, **members):
    global sequence
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event = {"schemaVersion": 1, "eventId": str(uuid.uuid4()), "source": SOURCE, "sourceEpoch": EPOCH, "childId": CHILD,
             "lineage": {"rootChildId": CHILD, "attempt": 0, "external": False},
             "kind": kind, "observedAt": now, "sequence": sequence, **members}
    sequence += 1
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


emit("created", state="created", details={"name": "python child"})
emit("state_changed", state="starting")
emit("state_changed", state="running")
emit("activity", activity="counts to three")
emit("terminal", state="completed")
