// A child's life as OTLP/JSON, with nothing but Go's standard library: go run emit.go http://127.0.0.1:4318
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type object = map[string]any

func attribute(key string, value object) object { return object{"key": key, "value": value} }
func text(value string) object                  { return object{"stringValue": value} }

func main() {
	epoch := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	child := "go-" + epoch
	records := []object{}
	for sequence, state := range []string{"created", "starting", "running", "completed"} {
		kind := map[string]string{"created": "created", "completed": "terminal"}[state]
		if kind == "" {
			kind = "state_changed"
		}
		records = append(records, object{
			"timeUnixNano": fmt.Sprint(time.Now().UnixNano()), "eventName": "agent_lifecycle." + kind,
			"attributes": []object{
				attribute("agent_lifecycle.schema_version", object{"intValue": "1"}),
				attribute("agent_lifecycle.event_id", text(fmt.Sprintf("%s/%d", child, sequence))),
				attribute("agent_lifecycle.source", text("go-example")),
				attribute("agent_lifecycle.source_epoch", text(epoch)),
				attribute("agent_lifecycle.child_id", text(child)),
				attribute("agent_lifecycle.root_child_id", text(child)),
				attribute("agent_lifecycle.attempt", object{"intValue": "0"}),
				attribute("agent_lifecycle.external", object{"boolValue": false}),
				attribute("agent_lifecycle.state", text(state)),
				attribute("agent_lifecycle.sequence", object{"intValue": fmt.Sprint(sequence)}),
			}})
	}
	body, _ := json.Marshal(object{"resourceLogs": []object{{"scopeLogs": []object{{
		"scope": object{"name": "agent-lifecycle"}, "logRecords": records}}}}})
	response, err := http.Post(os.Args[1]+"/v1/logs", "application/json", bytes.NewReader(body))
	if err != nil || response.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, "not delivered:", err, response)
		os.Exit(1)
	}
}
