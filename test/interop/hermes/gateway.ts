import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { temporaryDirectory } from "../../kit/event-file.ts";
import { type Program, startProgram } from "../../kit/program.ts";

/** Lets in everybody who knows it: the gateway is on loopback, and gone after the test. */
const TOKEN = "interop-session-token";

/** The gateway's own floor: a shorter one is raised to it. */
const CHILD_TIMEOUT_SECONDS = 30;

export interface GatewayOptions {
  /** The Python that it is installed for. */
  readonly python: string;
  /** What its agents ask. */
  readonly modelUrl: string;
  /** Of sessions that choose none. */
  readonly defaultModel: string;
}

/** A real gateway of Hermes Agent, without a display, in a home of its own. */
export interface Gateway {
  /** Where clients connect, without credentials. The same after a restart. */
  readonly url: string;
  readonly token: string;
  /** Where it keeps everything. */
  readonly home: string;
  readonly program: Program;
  /** Which model sessions have that choose none. Takes effect for sessions that are opened from then on. */
  setDefaultModel(model: string): void;
  /** Makes a profile, with a default of its own, or gives an existing one another default. */
  setProfile(name: string, model: string): void;
  removeProfile(name: string): void;
  /** Ends it as a crash would, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again in the same home, at the same place, after it was killed. */
  restart(): Promise<void>;
}

export async function startGateway({ python, modelUrl, defaultModel }: GatewayOptions): Promise<Gateway> {
  const home = join(temporaryDirectory(), "hermes");
  const configure = (folder: string, model: string): void => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.yaml"), configuration(modelUrl, model));
  };
  const folderOf = (profile: string): string => join(home, "profiles", profile);
  configure(home, defaultModel);
  const start = async (port: number): Promise<{ readonly program: Program; readonly port: number }> => {
    const program = startProgram(
      python,
      ["-m", "hermes_cli.main", "serve", "--host", "127.0.0.1", "--port", String(port), "--skip-build"],
      { environment: environmentOf(home), workingDirectory: home },
    );
    const ready = await program.line((line) => line.includes("HERMES_BACKEND_READY"));
    return { program, port: Number(/port=(\d+)/.exec(ready)?.[1]) };
  };
  let running = await start(0);
  return {
    url: `ws://127.0.0.1:${running.port}/api/ws`,
    token: TOKEN,
    home,
    setDefaultModel: (model) => configure(home, model),
    setProfile: (name, model) => configure(folderOf(name), model),
    removeProfile: (name) => rmSync(folderOf(name), { recursive: true }),
    get program() {
      return running.program;
    },
    kill: async () => {
      running.program.process.kill("SIGKILL");
      await running.program.end;
    },
    restart: async () => {
      running = await start(running.port);
    },
  };
}

function environmentOf(home: string): Readonly<Record<string, string>> {
  return {
    HOME: home,
    HERMES_HOME: home,
    HERMES_DASHBOARD_SESSION_TOKEN: TOKEN,
    OPENAI_API_KEY: "sk-nothing-is-bought-with-this",
    // Nothing outside this machine is asked for anything: nobody listens where the way out would be.
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    // What it was installed with is what it has.
    HERMES_DISABLE_LAZY_INSTALLS: "1",
    // What the script uses. Each further one makes every agent slower to build.
    HERMES_TUI_TOOLSETS: "delegation,terminal",
    PYTHONUNBUFFERED: "1",
  };
}

function configuration(modelUrl: string, model: string): string {
  return stringify({
    model: {
      default: model,
      provider: "custom",
      base_url: modelUrl,
      api_key: "sk-nothing-is-bought-with-this",
      // Less is refused when an agent is built.
      context_length: 131_072,
    },
    display: { tool_progress: "all" },
    delegation: {
      max_concurrent_children: 10,
      max_spawn_depth: 2,
      child_timeout_seconds: CHILD_TIMEOUT_SECONDS,
    },
  });
}
