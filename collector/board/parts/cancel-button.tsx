import type { ChildView } from "@agent-lifecycle/proto";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../src/client/api-error.ts";
import { hasEnded } from "../../src/display/child-key.ts";
import { useBoard } from "../model/use-board.ts";

/**
 * Asks for a child to be cancelled: offered only where its source is known to have that authority (D5). What is asked for
 * is said to be asked for, until evidence of an end comes. Whose token may only read is asked for another one, which is
 * used for this request and kept nowhere.
 */
export function CancelButton({ child }: { readonly child: ChildView }): JSX.Element | null {
  const {
    model: { client },
  } = useBoard();
  const [outcome, setOutcome] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [needsToken, setNeedsToken] = useState(false);
  if (child.capabilities.cancel !== "known" || hasEnded(child)) return null;
  const ask = async (token?: string): Promise<void> => {
    setAsking(true);
    try {
      await client.requestCancel(child, token === undefined ? {} : { token });
      setNeedsToken(false);
      setOutcome("cancel requested; its state changes when evidence of that comes");
    } catch (error) {
      setNeedsToken(lacksRight(error));
      setOutcome(`not requested: ${refusalWords(error)}`);
    }
    setAsking(false);
  };
  return (
    <span class="cancel">
      {needsToken ? (
        <AdminToken isAsking={isAsking} onToken={(token) => void ask(token)} />
      ) : (
        <button type="button" disabled={isAsking} onClick={() => void ask()}>
          Request cancel
        </button>
      )}
      <span role="status" class="quiet">
        {outcome}
      </span>
    </span>
  );
}

interface AdminTokenProps {
  readonly isAsking: boolean;
  readonly onToken: (token: string) => void;
}

function AdminToken({ isAsking, onToken }: AdminTokenProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="admin-token"
      onSubmit={(event) => {
        event.preventDefault();
        const token = input.current?.value.trim() ?? "";
        if (input.current !== null) input.current.value = "";
        if (token !== "") onToken(token);
      }}
    >
      <input
        ref={input}
        type="password"
        autocomplete="off"
        aria-label="Token with the scope admin, for this request alone"
        placeholder="token with the scope admin"
        required
      />
      <button type="submit" disabled={isAsking}>
        Request cancel
      </button>
    </form>
  );
}

function lacksRight(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}

function refusalWords(error: unknown): string {
  if (lacksRight(error)) return "it takes a token with the scope admin";
  return error instanceof Error ? error.message : String(error);
}
