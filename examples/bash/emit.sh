#!/usr/bin/env bash
# A command's life as JSON lines, with nothing but bash and date: bash emit.sh true >> events.jsonl
set -u
epoch="$$-$(date +%s)"
child="bash-$epoch"
sequence=0

emit() { # kind, further members
  printf '{"schemaVersion":1,"eventId":"%s/%d","source":"bash-example","sourceEpoch":"%s","childId":"%s","lineage":{"rootChildId":"%s","attempt":0,"external":false},"observedAt":"%s","sequence":%d,"kind":"%s"%s}\n' \
    "$child" "$sequence" "$epoch" "$child" "$child" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$sequence" "$1" "${2:-}"
  sequence=$((sequence + 1))
}

emit created ',"state":"created"'
emit state_changed ',"state":"starting"'
emit state_changed ',"state":"running"'
"$@" >&2
code=$?
if [ "$code" -eq 0 ]; then state=completed; else state=failed; fi
emit terminal ",\"state\":\"$state\",\"details\":{\"exitCode\":$code}"
