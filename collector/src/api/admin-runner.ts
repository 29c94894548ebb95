import type { FastifyRequest } from "fastify";
import { HttpRefusal, retryLater } from "../http/http-refusal.ts";
import { principalOf } from "../http/require-scope.ts";
import type { AdminResult } from "../runtime/admin-actions.ts";
import type { AdminAudit, AdminConclusion, AdminRequest } from "../runtime/admin-audit.ts";

/** What the one who asked for an action is told when it is done. */
export interface AdminAnswer {
  readonly action: string;
  readonly outcome: "succeeded";
  readonly details: (AdminResult & { readonly ok: true })["details"];
}

/** The audit's view of a request. The action is the route's: nothing that the sender wrote. */
export function adminRequest(request: FastifyRequest, principal: string, action: string, text = ""): AdminRequest {
  return { principal, action, address: request.ip, text };
}

const REFUSALS = {
  conflict: "conflict",
  unsupported: "conflict",
  not_found: "not_found",
  failed: "internal",
  unanswered: "unavailable",
} as const;

/** Runs one action at a time, between the two entries of the audit. */
export class AdminRunner {
  readonly #audit: AdminAudit;
  readonly #onError: (error: unknown) => void;
  #running: string | undefined;

  constructor(audit: AdminAudit, onError: (error: unknown) => void) {
    this.#audit = audit;
    this.#onError = onError;
  }

  /**
   * @param text what the action is about
   * @throws HttpRefusal `conflict` while another one runs or where the action does not fit, `unavailable` when it cannot
   * be written down, `internal` when it failed.
   */
  async run(
    request: FastifyRequest,
    action: string,
    text: string,
    act: () => Promise<AdminResult>,
  ): Promise<AdminAnswer> {
    if (this.#running !== undefined) {
      throw new HttpRefusal("conflict", `another action is running: ${this.#running}`);
    }
    this.#running = action;
    try {
      return await this.runBeside(request, action, text, act);
    } finally {
      this.#running = undefined;
    }
  }

  /** As `run`, for what others need not wait for. */
  async runBeside(
    request: FastifyRequest,
    action: string,
    text: string,
    act: () => Promise<AdminResult>,
  ): Promise<AdminAnswer> {
    const conclude = this.#begin(adminRequest(request, principalOf(request).name, action, text));
    try {
      const result = await act();
      conclude(conclusionOf(result));
      if (result.ok) return { action, outcome: "succeeded", details: result.details };
      throw new HttpRefusal(REFUSALS[result.reason], result.text);
    } catch (error) {
      if (error instanceof HttpRefusal) throw error;
      conclude({ outcome: "failed", text: "unexpected fault" });
      throw error;
    }
  }

  #begin(adminRequest: AdminRequest): (conclusion: AdminConclusion) => void {
    try {
      const conclude = this.#audit.begin(adminRequest);
      return (conclusion) => {
        try {
          conclude(conclusion);
        } catch (error) {
          // It is done, and the entry of its beginning stands.
          this.#onError(error);
        }
      };
    } catch (error) {
      this.#onError(error);
      throw retryLater("unavailable", "the action did not run: it cannot be written down");
    }
  }
}

function conclusionOf(result: AdminResult): AdminConclusion {
  if (!result.ok) return { outcome: "failed", text: result.text };
  const details = Object.entries(result.details).map(([name, value]) => `${name}=${String(value)}`);
  return { outcome: "succeeded", text: details.join(" ") };
}
