import { receiversInUse } from "../config/components.ts";
import type { CollectorConfiguration, Endpoint, TlsConfiguration } from "../config/configuration.ts";

/** One server that the configuration asks for. */
export interface ConfiguredListener {
  readonly name: "OTLP/HTTP" | "OTLP/gRPC" | "API";
  readonly endpoint: Endpoint;
  readonly tls: TlsConfiguration | undefined;
}

/** The servers that are to run. */
export function configuredListeners(configuration: CollectorConfiguration): readonly ConfiguredListener[] {
  const { api } = configuration;
  const otlp = receiversInUse(configuration).flatMap((receiver): readonly ConfiguredListener[] => {
    if (receiver.type !== "otlp") return [];
    const { http, grpc } = receiver.settings.protocols;
    return [
      ...(http === null ? [] : [{ name: "OTLP/HTTP" as const, endpoint: http.endpoint, tls: http.tls }]),
      ...(grpc === null ? [] : [{ name: "OTLP/gRPC" as const, endpoint: grpc.endpoint, tls: grpc.tls }]),
    ];
  });
  return [...otlp, { name: "API", endpoint: api.endpoint, tls: api.tls }];
}

/** `127.0.0.1:4318`, `[::1]:4318`. */
export function addressOf({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
