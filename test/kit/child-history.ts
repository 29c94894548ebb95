import type { InputsPage, InputView } from "@agent-lifecycle/proto";
import type { CollectorProcess } from "./collector-process.ts";

/** Every stored input about one child, oldest first, page by page as a client would read them. */
export async function historyOf(
  collector: Pick<CollectorProcess, "get">,
  source: string,
  childId: string,
): Promise<readonly InputView[]> {
  const path = `/api/v1/children/${encodeURIComponent(source)}/${encodeURIComponent(childId)}/events`;
  const inputs: InputView[] = [];
  let cursor: string | null = null;
  do {
    const page: InputsPage = await collector.get<InputsPage>(
      `${path}?limit=1000${cursor === null ? "" : `&cursor=${cursor}`}`,
    );
    inputs.push(...page.inputs);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return inputs;
}
