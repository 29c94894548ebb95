import { type Collector, type CollectorSeams, startCollector } from "@agent-lifecycle/collector";
import { loadConfiguration, readConfigurationSchema } from "@agent-lifecycle/collector/parts";
import type {
  AuditPage,
  ChildrenPage,
  ChildView,
  DiagnosticsPage,
  InputsPage,
  SourcesView,
} from "@agent-lifecycle/proto";
import { expect, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../event-file.ts";
import type { GatewayBuild } from "./gateway-build.ts";
import { GatewayDouble } from "./gateway-double.ts";
import { type GatewayServer, type GatewayServerOptions, serveGateway } from "./gateway-server.ts";

const SOURCE = "hermes";
export const SESSION = "s1";
export const ADMIN_TOKEN = "a-token-of-the-operator-71c0d2e9";

export interface ObservingOptions {
  readonly server?: GatewayServerOptions;
  /** Further members of the receiver, as its configuration says them. */
  readonly receiver?: string;
  /** Of `lifecycle`. Default: silence alone makes nobody stale, and questions are answered soon. */
  readonly lifecycle?: string;
  readonly seams?: Partial<CollectorSeams>;
}

/** A real collector that observes the double of a gateway over a real socket, read as its users read it. */
export class ObservedGateway {
  readonly gateway: GatewayDouble;
  readonly server: GatewayServer;
  /** Everything that the collector logged. */
  readonly log: object[] = [];
  readonly #folder = temporaryDirectory();
  readonly #options: ObservingOptions;
  #collector: Collector | undefined;

  private constructor(gateway: GatewayDouble, server: GatewayServer, options: ObservingOptions) {
    this.gateway = gateway;
    this.server = server;
    this.#options = options;
  }

  /** With one session that is live, and past the first look. */
  static async start(build: GatewayBuild, options: ObservingOptions = {}): Promise<ObservedGateway> {
    const gateway = new GatewayDouble(build);
    gateway.openSession(SESSION);
    const observed = new ObservedGateway(gateway, await serveGateway(gateway, options.server), options);
    onTestFinished(() => observed.stopCollector());
    await observed.startCollector();
    return observed;
  }

  get database(): string {
    return `${this.#folder}/collector.db`;
  }

  get collector(): Collector {
    if (this.#collector === undefined) throw new Error("the collector does not run");
    return this.#collector;
  }

  async startCollector(): Promise<void> {
    const { receiver = "", lifecycle = LIFECYCLE, seams } = this.#options;
    const text = `
receivers: { hermes/main: { url: "${this.server.url}", poll_interval: 20ms, ${receiver} } }
api: { endpoint: "127.0.0.1:0" }
storage: { path: ${this.database} }
lifecycle: { ${lifecycle}, check_interval: 50ms }
access: { tokens: [
  { name: operator, token: ${ADMIN_TOKEN}, scopes: [admin] },
  { name: elsewhere, token: "${ADMIN_TOKEN}-elsewhere", scopes: [admin], sources: [elsewhere] } ] }`;
    const { configuration, problems } = loadConfiguration(text, {
      schema: readConfigurationSchema(),
      environment: {},
      resolvePath: (path) => path,
    });
    expect(problems).toEqual([]);
    const write = (members: object, message: string): void => void this.log.push({ ...members, message });
    this.#collector = await startCollector(configuration, { log: { info: write, error: write }, ...seams });
  }

  async stopCollector(): Promise<void> {
    const collector = this.#collector;
    this.#collector = undefined;
    await collector?.shutdown();
  }

  /** Resolves when the gateway was looked at so often from now on, and what was seen is stored. */
  async looks(times = 1): Promise<void> {
    await this.gateway.whenAsked("delegation.status", times + 1);
  }

  async get<Answer>(path: string): Promise<Answer> {
    const response = await fetch(new URL(path, this.collector.apiUrl));
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as Answer;
  }

  /** Every child that is a row, with its state. */
  async states(): Promise<Readonly<Record<string, string>>> {
    const { children } = await this.get<ChildrenPage>("/api/v1/children");
    return Object.fromEntries(children.map(({ childId, state }) => [childId, String(state)]).sort());
  }

  child(childId: string): Promise<ChildView> {
    return this.get<ChildView>(childPath(childId));
  }

  /** The child, as soon as it looks like that. */
  async until(childId: string, expected: object): Promise<ChildView> {
    return this.eventually(async () => {
      const child = await this.child(childId);
      expect(child).toMatchObject(expected);
      return child;
    });
  }

  eventually<Value>(look: () => Promise<Value>): Promise<Value> {
    return vi.waitFor(look, { timeout: 20_000, interval: 20 });
  }

  /** Every state that the child was ever reported in, with what became of the report. */
  async reported(childId: string): Promise<readonly string[]> {
    const { inputs } = await this.get<InputsPage>(`${childPath(childId)}/events`);
    return inputs.flatMap(({ event, status }) => {
      if (event?.state === undefined) return [];
      return [status === "applied" ? event.state : `${event.state} (${status})`];
    });
  }

  async audit(childId: string): Promise<AuditPage["audit"]> {
    return (await this.get<AuditPage>(`${childPath(childId)}/audit`)).audit;
  }

  async diagnostics(): Promise<DiagnosticsPage["diagnostics"]> {
    return (await this.get<DiagnosticsPage>("/api/v1/diagnostics")).diagnostics;
  }

  async source(): Promise<SourcesView["sources"][number]> {
    const { sources } = await this.get<SourcesView>("/api/v1/sources");
    return sources.find(({ source }) => source === SOURCE) ?? expect.fail("the source is not shown");
  }

  /** Asks for a child to be stopped, as an administrator. */
  async cancel(
    childId: string,
    token: string = ADMIN_TOKEN,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const response = await fetch(new URL("/api/v1/admin/children/cancel", this.collector.apiUrl), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ source: SOURCE, childId }),
    });
    return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> };
  }
}

const LIFECYCLE = "stale_after: 1h, reconcile_deadline: 500ms";

function childPath(childId: string): string {
  return `/api/v1/children/${SOURCE}/${encodeURIComponent(childId)}`;
}
