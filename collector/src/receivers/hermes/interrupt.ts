import { isJsonObject } from "@agent-lifecycle/proto";
import type { CancelOutcome } from "../../runtime/observed-source.ts";
import { errorInWords } from "./display-text.ts";
import type { GatewayConnection } from "./gateway-connection.ts";

/** Asks for one child to be stopped, in the way that the build offers. Never rejects; changes no state (D5). */
export async function interruptChild(
  childId: string,
  connection: GatewayConnection | undefined,
  mayCancel: boolean,
): Promise<CancelOutcome> {
  if (!mayCancel) return { kind: "not_allowed", text: "cancelling is not configured for this receiver" };
  const { session, observer } = connection ?? {};
  if (connection === undefined || session === undefined || observer === undefined) {
    return { kind: "failed", text: "the gateway is not connected" };
  }
  let params: Readonly<Record<string, string>>;
  if (session.features.interrupt === "any_client") params = { subagent_id: childId };
  else {
    const sessionId = observer.sessionOf(childId);
    if (
      session.features.interrupt !== "attached_client" ||
      sessionId === undefined ||
      !observer.isAttachedTo(sessionId)
    ) {
      return {
        kind: "not_allowed",
        text: "this gateway lets only clients attached to the child's session interrupt it",
      };
    }
    params = { session_id: sessionId, subagent_id: childId };
  }
  try {
    const reply = await connection.ask("subagent.interrupt", params);
    if (reply.kind === "error") return { kind: "not_allowed", text: `answered ${reply.code}: ${reply.message}` };
    const found = isJsonObject(reply.result) && reply.result["found"] === true;
    return found
      ? { kind: "requested", text: "the child was told to stop" }
      : { kind: "not_found", text: "the gateway has no such child" };
  } catch (error) {
    return { kind: "failed", text: errorInWords(error) };
  }
}
