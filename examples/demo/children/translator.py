"""Speaks JSONL and nothing else: one event a line, appended to a file that the collector follows."""

import datetime
import json
import sys
import time
import uuid

EPOCH = str(uuid.uuid4())
sequence = 0


def emit(kind, **members):
    global sequence
    sequence += 1
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    event = {
        "schemaVersion": 1,
        "eventId": f"translator/{EPOCH}/{sequence}",
        "source": "demo",
        "sourceEpoch": EPOCH,
        "childId": "translator",
        "lineage": {"rootChildId": "translator", "attempt": 0, "external": False},
        "kind": kind,
        "observedAt": now.replace("+00:00", "Z"),
        "sequence": sequence,
        **members,
    }
    with open(sys.argv[1], "a", encoding="utf-8") as journal:
        journal.write(json.dumps(event) + "\n")


emit("created", state="created")
emit("state_changed", state="starting")
emit("state_changed", state="running")
for language in ["German", "Japanese"]:
    emit("activity", activity=f"translating to {language}")
    time.sleep(0.8)
emit("terminal", state="completed")
