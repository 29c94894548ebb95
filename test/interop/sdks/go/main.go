// A host that uses nothing of ours: OpenTelemetry's Go SDK, its exporters, and the attributes that docs/wire.md names.
//
// Usage: emit PROTOCOL COMPRESSION URL SOURCE, such as: emit grpc gzip http://127.0.0.1:4317 go-host
// Writes the trace context that its records carry as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/trace"
)

var startedAt = time.Date(2026, time.September, 1, 9, 0, 0, 0, time.UTC)

func exporterOf(ctx context.Context, protocol, compression, url string) (sdklog.Exporter, error) {
	if protocol == "grpc" {
		options := []otlploggrpc.Option{otlploggrpc.WithEndpointURL(url), otlploggrpc.WithInsecure()}
		if compression == "gzip" {
			options = append(options, otlploggrpc.WithCompressor("gzip"))
		}
		return otlploggrpc.New(ctx, options...)
	}
	chosen := otlploghttp.NoCompression
	if compression == "gzip" {
		chosen = otlploghttp.GzipCompression
	}
	return otlploghttp.New(ctx, otlploghttp.WithEndpointURL(url+"/v1/logs"), otlploghttp.WithCompression(chosen))
}

type reporter struct {
	ctx       context.Context
	logger    log.Logger
	source    string
	sequences map[string]int64
}

func (r *reporter) report(child, kind string, members ...attribute.KeyValue) {
	r.sequences[child]++
	sequence := r.sequences[child]
	var record log.Record
	record.SetEventName("agent_lifecycle." + kind)
	record.SetTimestamp(startedAt.Add(time.Duration(sequence) * time.Second))
	record.SetSeverity(log.SeverityInfo)
	record.SetBody(attribute.StringValue(child + ": " + kind))
	record.AddAttributes(
		attribute.Int64("agent_lifecycle.schema_version", 1),
		attribute.String("agent_lifecycle.event_id", fmt.Sprintf("%s-%d", child, sequence)),
		attribute.String("agent_lifecycle.source", r.source),
		attribute.String("agent_lifecycle.source_epoch", "2026-09-01"),
		attribute.String("agent_lifecycle.child_id", child),
		attribute.String("agent_lifecycle.root_child_id", "planner"),
		attribute.String("agent_lifecycle.parent_child_id", "planner"),
		attribute.Int64("agent_lifecycle.attempt", 0),
		attribute.Bool("agent_lifecycle.external", false),
		attribute.Int64("agent_lifecycle.sequence", sequence),
		attribute.String("agent_lifecycle.capability.heartbeat", "known"),
	)
	record.AddAttributes(members...)
	r.logger.Emit(r.ctx, record)
}

func state(name string) attribute.KeyValue {
	return attribute.String("agent_lifecycle.state", name)
}

func details(text string) attribute.KeyValue {
	return attribute.String("agent_lifecycle.details", text)
}

func run(protocol, compression, url, source string) error {
	ctx := context.Background()
	exporter, err := exporterOf(ctx, protocol, compression, url)
	if err != nil {
		return err
	}
	var failure error
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { failure = err }))
	provider := sdklog.NewLoggerProvider(sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
	logger := provider.Logger("my-agent-runner")

	traceID, err := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	if err != nil {
		return err
	}
	spanID, err := trace.SpanIDFromHex("b7ad6b7169203331")
	if err != nil {
		return err
	}
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled})
	r := &reporter{trace.ContextWithSpanContext(ctx, span), logger, source, map[string]int64{}}

	for _, child := range []string{"researcher", "reviewer"} {
		r.report(child, "created", state("created"))
		r.report(child, "state_changed", state("starting"))
		r.report(child, "state_changed", state("running"))
	}
	r.report("researcher", "activity",
		attribute.String("agent_lifecycle.activity", "liest die Arbeit, 论文"), details(`{"usage":{"inputTokens":812}}`))
	r.report("researcher", "heartbeat")
	// What any other part of the host logs goes the same way.
	var foreign log.Record
	foreign.SetBody(attribute.StringValue("cache warmed"))
	foreign.AddAttributes(attribute.IntSlice("entries", []int{1, 2}))
	logger.Emit(ctx, foreign)
	r.report("researcher", "terminal", state("completed"), details(`{"exitCode":0}`))
	r.report("reviewer", "state_changed", state("waiting"), details(`{"waitingOn":{"kind":"permission"}}`))

	if err := provider.Shutdown(ctx); err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]string{"traceId": traceID.String(), "spanId": spanID.String()})
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: emit PROTOCOL COMPRESSION URL SOURCE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
