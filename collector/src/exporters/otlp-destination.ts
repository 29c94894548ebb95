import { readFileSync } from "node:fs";
import type { ConfiguredExporter } from "../config/components.ts";
import type { ClientTlsConfiguration, ExportedSignal } from "../config/exporter-configuration.ts";
import { createGrpcSender } from "./grpc-sender.ts";
import { type ClientTls, createHttpSender } from "./http-sender.ts";
import type { RequestSender } from "./send-outcome.ts";

/** An exporter that speaks OTLP, as it is configured. */
export type OtlpExporter = Extract<ConfiguredExporter, { readonly type: "otlp_http" | "otlp_grpc" }>;

/** Sends one signal to where an exporter says. @throws the system's error for a file of TLS that cannot be read. */
export function createOtlpSender(exporter: OtlpExporter, signal: ExportedSignal, now: () => number): RequestSender {
  if (exporter.type === "otlp_grpc") {
    const { endpoint: target, headers, compression, tls, timeoutMs } = exporter.settings;
    const material = tls === undefined ? undefined : tlsMaterialOf(tls);
    return createGrpcSender({ target, signal, headers, compression, tls: material, timeoutMs });
  }
  const { headers, compression, tls, timeoutMs, encoding } = exporter.settings;
  return createHttpSender({
    url: urlOf(exporter.settings, signal),
    contentType: encoding === "json" ? "application/json" : "application/x-protobuf",
    headers,
    compression,
    tls: tlsMaterialOf(tls),
    timeoutMs,
    now,
  });
}

/** A base URL gets the signal's path; a URL of a signal is used as it is. */
function urlOf(
  settings: Extract<OtlpExporter, { readonly type: "otlp_http" }>["settings"],
  signal: ExportedSignal,
): URL {
  const own = { logs: settings.logsEndpoint, traces: settings.tracesEndpoint, metrics: settings.metricsEndpoint }[
    signal
  ];
  if (own !== undefined) return new URL(own);
  const url = new URL(settings.endpoint ?? "");
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return url;
}

/** @throws the system's error for a file that cannot be read. */
export function tlsMaterialOf(tls: ClientTlsConfiguration | undefined): ClientTls {
  return {
    ...(tls?.caFile === undefined ? undefined : { ca: readFileSync(tls.caFile) }),
    ...(tls?.certFile === undefined ? undefined : { cert: readFileSync(tls.certFile) }),
    ...(tls?.keyFile === undefined ? undefined : { key: readFileSync(tls.keyFile) }),
  };
}
