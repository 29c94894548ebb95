import type { ChildView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../../src/client/api-error.ts";
import { hasEnded } from "../../src/display/child-key.ts";
import { useBoard } from "../model/use-board.ts";

/**
 * Asks for a child to be cancelled: offered only where its source is known to have that authority (D5). What is asked for
 * is said to be asked for, until evidence of an end comes.
 */
export function CancelButton({ child }: { readonly child: ChildView }): JSX.Element | null {
  const {
    model: { client },
  } = useBoard();
  const [outcome, setOutcome] = useState("");
  const [isAsking, setAsking] = useState(false);
  if (child.capabilities.cancel !== "known" || hasEnded(child)) return null;
  const ask = async (): Promise<void> => {
    setAsking(true);
    try {
      await client.requestCancel(child);
      setOutcome("cancel requested; its state changes when evidence of that comes");
    } catch (error) {
      setOutcome(`not requested: ${refusalWords(error)}`);
    }
    setAsking(false);
  };
  return (
    <span class="cancel">
      <button type="button" disabled={isAsking} onClick={() => void ask()}>
        Request cancel
      </button>
      <span role="status" class="quiet">
        {outcome}
      </span>
    </span>
  );
}

function refusalWords(error: unknown): string {
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
    return "it takes a token with the scope admin";
  }
  return error instanceof Error ? error.message : String(error);
}
