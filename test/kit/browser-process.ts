import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A page in a real Chromium, driven through its DevTools protocol. */
export interface BrowserPage {
  /** Every address that the page has asked for, and what it told its console. */
  readonly requests: readonly string[];
  readonly console: readonly string[];
  open(url: string): Promise<void>;
  /** Value of an expression in the page; a promise is awaited. @throws Error with what the page threw. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Resolves as soon as the expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Presses and releases a key, by its name: `Tab`, `ArrowDown`, `/`. */
  press(key: string): Promise<void>;
  /** Makes the page as large as a screen, and tells it what its user prefers. */
  emulate(screen: Screen): Promise<void>;
  /** The page as it is seen, as PNG. */
  screenshot(): Promise<Buffer>;
}

export interface Screen {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly colourScheme?: "light" | "dark";
  readonly reducedMotion?: boolean;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

const PATH_OF_BROWSER = process.env["CHROMIUM_PATH"] ?? "chromium";
const ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"];

/** Whether there is a Chromium to start; says so when there is none, since what was not run has not passed. */
export function hasBrowser(): boolean {
  const { status } = spawnSync(PATH_OF_BROWSER, ["--version"], { stdio: "ignore" });
  if (status === 0) return true;
  console.warn(`not run: there is no ${PATH_OF_BROWSER} here (install it, or name one by CHROMIUM_PATH)`);
  return false;
}

/** A running Chromium and the page that it shows. */
export interface RunningBrowser {
  readonly page: BrowserPage;
  close(): Promise<void>;
}

/** Starts a Chromium. @param profile an empty folder of its own @throws Error when there is none. */
export async function launchBrowser(profile: string): Promise<RunningBrowser> {
  const path = PATH_OF_BROWSER;
  const browser = spawn(path, [...ARGUMENTS, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", HOME: profile },
  });
  const ended = once(browser, "exit").catch(() => {});
  let connection: Connection | undefined;
  const close = async (): Promise<void> => {
    connection?.close();
    browser.kill("SIGKILL");
    await ended;
  };
  try {
    connection = await connect(await debuggerUrl(browser, path));
    const { targetInfos } = await connection.send("Target.getTargets");
    const target = (targetInfos as readonly { readonly type: string; readonly targetId: string }[]).find(
      ({ type }) => type === "page",
    );
    const { sessionId } = await connection.send("Target.attachToTarget", { targetId: target?.targetId, flatten: true });
    return { page: await createPage(connection, String(sessionId)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function debuggerUrl(browser: ChildProcess, path: string): Promise<string> {
  if (browser.stderr === null) throw new Error("no standard error");
  const failed = once(browser, "error").then(([error]) => {
    throw new Error(`these tests need Chromium, and ${path} cannot be started: ${String(error)}`);
  });
  const found = (async () => {
    for await (const line of createInterface({ input: browser.stderr as NodeJS.ReadableStream })) {
      const url = /^DevTools listening on (ws:.*)$/.exec(line)?.[1];
      if (url !== undefined) return url;
    }
    throw new Error(`${path} ended without a DevTools address`);
  })();
  const url = await Promise.race([failed, found]);
  // What it goes on to say must not fill the pipe.
  browser.stderr.resume();
  return url;
}

interface Connection {
  send(
    method: string,
    params?: Readonly<Record<string, unknown>>,
    sessionId?: string,
  ): Promise<Readonly<Record<string, unknown>>>;
  onEvent(listener: (method: string, params: Readonly<Record<string, unknown>>) => void): void;
  close(): void;
}

async function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  await once(socket, "open");
  let lastId = 0;
  const waiting = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  const listeners: ((method: string, params: Readonly<Record<string, unknown>>) => void)[] = [];
  socket.addEventListener("message", ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Message;
    if (method !== undefined) for (const listener of listeners) listener(method, params ?? {});
    const asked = id === undefined ? undefined : waiting.get(id);
    if (asked === undefined) return;
    if (error === undefined) asked.resolve(result ?? {});
    else asked.reject(new Error(error.message));
  });
  return {
    send: (method, params = {}, sessionId) => {
      lastId += 1;
      const answer = Promise.withResolvers<Readonly<Record<string, unknown>>>();
      waiting.set(lastId, answer);
      socket.send(
        JSON.stringify({ id: lastId, method, params, ...(sessionId === undefined ? undefined : { sessionId }) }),
      );
      return answer.promise;
    },
    onEvent: (listener) => void listeners.push(listener),
    close: () => socket.close(),
  };
}

/** Of the keys that the browser itself acts on. */
const VIRTUAL_CODES: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, Escape: 27 };

async function createPage({ send, onEvent }: Connection, sessionId: string): Promise<BrowserPage> {
  const requests: string[] = [];
  const told: string[] = [];
  const loads: (() => void)[] = [];
  onEvent((method, params) => {
    if (method === "Network.requestWillBeSent") requests.push((params["request"] as { readonly url: string }).url);
    if (method === "Page.loadEventFired") for (const resolve of loads.splice(0)) resolve();
    if (/^(Runtime\.(consoleAPICalled|exceptionThrown)|Log\.entryAdded|Audits\.issueAdded)$/.test(method)) {
      told.push(JSON.stringify(params));
    }
  });
  for (const domain of ["Network", "Page", "Runtime", "Log"]) await send(`${domain}.enable`, {}, sessionId);
  const evaluate = async (expression: string): Promise<unknown> => {
    const options = { expression, awaitPromise: true, returnByValue: true, allowUnsafeEvalBlockedByCSP: false };
    const { result, exceptionDetails } = await send("Runtime.evaluate", options, sessionId);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value?: unknown }).value;
  };
  return {
    requests,
    console: told,
    press: async (key) => {
      const text = key.length === 1 ? { text: key } : key === "Enter" ? { text: "\r" } : {};
      const code = VIRTUAL_CODES[key] === undefined ? {} : { windowsVirtualKeyCode: VIRTUAL_CODES[key] };
      await send("Input.dispatchKeyEvent", { type: "keyDown", key, ...text, ...code }, sessionId);
      await send("Input.dispatchKeyEvent", { type: "keyUp", key, ...code }, sessionId);
    },
    emulate: async ({ width, height, colourScheme = "light", reducedMotion = false }) => {
      const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
      await send("Emulation.setDeviceMetricsOverride", metrics, sessionId);
      const features = [
        { name: "prefers-color-scheme", value: colourScheme },
        { name: "prefers-reduced-motion", value: reducedMotion ? "reduce" : "no-preference" },
      ];
      await send("Emulation.setEmulatedMedia", { features }, sessionId);
    },
    screenshot: async () => {
      const { data } = await send("Page.captureScreenshot", { format: "png" }, sessionId);
      return Buffer.from(String(data), "base64");
    },
    open: async (url) => {
      const loaded = new Promise<void>((resolve) => void loads.push(resolve));
      await send("Page.navigate", { url }, sessionId);
      await loaded;
    },
    evaluate: async <Value>(expression: string) => (await evaluate(expression)) as Value,
    until: async (expression) => {
      await evaluate(`new Promise((resolve) => {
        const look = () => (${expression}) ? resolve() : requestAnimationFrame(look);
        look();
      })`);
    },
  };
}
