import type { FastifyInstance } from "fastify";
import { HttpRefusal } from "./http-refusal.ts";

/** Answers every method but the allowed ones with 405 and `Allow`. */
export function refuseOtherMethods(scope: FastifyInstance, url: string, allowed: readonly string[]): void {
  const others = scope.supportedMethods.filter((method) => !allowed.includes(method));
  const allow = allowed.join(", ");
  scope.route({
    method: others,
    url,
    handler: () => {
      throw new HttpRefusal("method_not_allowed", `this takes only: ${allow}`, { headers: { allow } });
    },
  });
}
