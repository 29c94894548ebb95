import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface TokenFormProps {
  /** What was wrong with the token that was shown; empty when none was. */
  readonly problem: string;
  readonly onToken: (token: string) => void;
}

/** Asks for a token that may read. */
export function TokenForm({ problem, onToken }: TokenFormProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      id="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        const token = input.current?.value ?? "";
        if (input.current !== null) input.current.value = "";
        onToken(token);
      }}
    >
      <label for="token">This collector asks for its read token.</label>
      <input id="token" ref={input} type="password" autocomplete="off" required />
      <button type="submit">Show the board</button>
      <p id="token-problem" role="alert">
        {problem}
      </p>
    </form>
  );
}
