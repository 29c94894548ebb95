import type { ApiDependencies } from "../api/api-dependencies.ts";
import { receiversInUse } from "../config/components.ts";
import type {
  CollectorConfiguration,
  HttpListenerConfiguration,
  OtlpGrpcConfiguration,
  OtlpHttpConfiguration,
  TlsConfiguration,
} from "../config/configuration.ts";
import type { HttpServer, HttpServerOptions } from "../http/http-server.ts";
import { createOtlpGrpcReceiver, type OtlpGrpcReceiver } from "../receivers/otlp-grpc.ts";
import { scheduleUnreferenced } from "../runtime/schedule.ts";
import type { AccessControl } from "../security/access-control.ts";
import { createApiServer } from "../server/api-server.ts";
import type { IngestDependencies } from "../server/ingest-routes.ts";
import { createIngestServer } from "../server/ingest-server.ts";
import type { ComposedAdmission } from "./admission.ts";
import type { CollectorLog } from "./collector-log.ts";
import { ListenerCertificates } from "./listener-certificates.ts";
import type { NamedPart } from "./running-parts.ts";

export interface ListenerParts {
  readonly configuration: CollectorConfiguration;
  readonly dependencies: ApiDependencies & IngestDependencies;
  readonly access: AccessControl;
  readonly admission: ComposedAdmission;
  readonly log: CollectorLog;
  readonly onError: (error: unknown) => void;
}

/** What others connect to. Nothing listens yet. */
export interface Listeners {
  readonly ingest: HttpServer | undefined;
  readonly grpc: OtlpGrpcReceiver | undefined;
  readonly api: HttpServer;
  /** In the order of their start. */
  readonly parts: readonly NamedPart[];
  /**
   * Loads the certificates that a configuration names for the listeners that have some. Nothing changes before the
   * returned function is called. @throws SecretFileError or CertificateError when one cannot be used.
   */
  prepareCertificates(configuration: CollectorConfiguration): () => Promise<void>;
}

/** How long requests that run may take to their end at a shutdown, if it may take that long. Milliseconds. */
const MAX_REQUEST_PATIENCE_MS = 5_000;

type ListenerName = "otlp/http" | "otlp/grpc" | "api";

export async function composeListeners(parts: ListenerParts): Promise<Listeners> {
  const { configuration, dependencies, access, admission, log, onError } = parts;
  const { limits, service, api: apiSettings } = configuration;
  const { http, grpc } = otlpProtocols(configuration);
  const certificates = new Map<ListenerName, ListenerCertificates>();
  const certified = (
    name: ListenerName,
    tls: TlsConfiguration | undefined,
  ): { readonly tls?: ListenerCertificates } => {
    if (tls === undefined) return {};
    const now = (): number => dependencies.clock.wallNow();
    const source = new ListenerCertificates(tls, { log, now, schedule: scheduleUnreferenced });
    certificates.set(name, source);
    return { tls: source };
  };
  const shared = {
    onError,
    access,
    admission: admission.admission,
    maxConnections: limits.connections,
    shutdownTimeoutMs: Math.min(MAX_REQUEST_PATIENCE_MS, service.shutdownTimeoutMs / 3),
  };
  const { budget } = admission;
  const ingest =
    http === null
      ? undefined
      : await createIngestServer(dependencies, {
          ...shared,
          budget,
          ...httpOptionsOf(http),
          maxBodyBytes: http.maxRequestBodyBytes,
          ...certified("otlp/http", http.tls),
        });
  const receiver =
    grpc === null
      ? undefined
      : createOtlpGrpcReceiver({
          ...dependencies,
          ...shared,
          ...grpc.endpoint,
          maxMessageBytes: grpc.maxRequestBodyBytes,
          maxBodiesBytes: limits.bodiesBytes,
          ...certified("otlp/grpc", grpc.tls),
        });
  const api = await createApiServer(dependencies, {
    ...shared,
    budget,
    ...httpOptionsOf(apiSettings),
    maxStreams: apiSettings.maxStreams,
    ...(http === null ? undefined : { maxBodyBytes: http.maxRequestBodyBytes }),
    ...certified("api", apiSettings.tls),
  });
  return {
    ingest,
    grpc: receiver,
    api,
    parts: [
      ...Array.from(certificates, ([name, component]): NamedPart => ({ name: `${name} certificates`, component })),
      ...(ingest === undefined ? [] : [{ name: "otlp/http", component: ingest }]),
      ...(receiver === undefined ? [] : [{ name: "otlp/grpc", component: receiver }]),
      { name: "api", component: api },
    ],
    prepareCertificates: (next) => {
      const files = certificateFiles(next);
      const swaps = Array.from(certificates, ([name, source]) => {
        const tls = files[name];
        return tls === undefined ? async () => {} : source.prepare(tls);
      });
      return async () => {
        for (const swap of swaps) await swap();
      };
    },
  };
}

function certificateFiles(
  configuration: CollectorConfiguration,
): Readonly<Record<ListenerName, TlsConfiguration | undefined>> {
  const { http, grpc } = otlpProtocols(configuration);
  return { "otlp/http": http?.tls, "otlp/grpc": grpc?.tls, api: configuration.api.tls };
}

function otlpProtocols(configuration: CollectorConfiguration): {
  readonly http: OtlpHttpConfiguration | null;
  readonly grpc: OtlpGrpcConfiguration | null;
} {
  const otlp = receiversInUse(configuration).find(({ type }) => type === "otlp");
  return otlp?.type === "otlp" ? otlp.settings.protocols : { http: null, grpc: null };
}

function httpOptionsOf({ endpoint, allowedHosts, allowedOrigins }: HttpListenerConfiguration): Pick<
  HttpServerOptions,
  "host" | "port" | "allowedHosts"
> & {
  readonly allowedOrigins: readonly string[];
} {
  return { ...endpoint, allowedHosts, allowedOrigins };
}
