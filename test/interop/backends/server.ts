import { type Program, startProgram } from "../../kit/program.ts";

/** A back end that can be stopped and started again, on the same ports and over the same data. */
export class Server {
  readonly #path: string;
  readonly #argv: readonly string[];
  readonly #isReady: () => Promise<boolean>;
  #program: Program | undefined;

  constructor(path: string, argv: readonly string[], isReady: () => Promise<boolean>) {
    this.#path = path;
    this.#argv = argv;
    this.#isReady = isReady;
  }

  /** Resolves when it takes requests. */
  async start(): Promise<void> {
    const program = startProgram(this.#path, this.#argv);
    this.#program = program;
    const ended = program.end.then(({ stderr }) => {
      throw new Error(`${this.#path} ended: ${stderr.toString().slice(-2_000)}`);
    });
    // It ends when it is stopped, too.
    ended.catch(() => {});
    await Promise.race([until(this.#isReady), ended]);
  }

  /** As an operator stops it. */
  async stop(): Promise<void> {
    this.#program?.process.kill("SIGTERM");
    await this.#program?.end;
    this.#program = undefined;
  }
}

/** Looks until it is so. What rejects is not so yet. */
export async function until(condition: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let problem: unknown;
    const isSo = await condition().catch((error: unknown) => {
      problem = error;
      return false;
    });
    if (isSo) return;
    if (Date.now() > deadline) throw new Error(`not so within ${timeoutMs} ms: ${condition}`, { cause: problem });
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export async function answersAt(url: string): Promise<boolean> {
  return (await fetch(url)).ok;
}

export async function getJson<Answer>(url: URL): Promise<Answer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
