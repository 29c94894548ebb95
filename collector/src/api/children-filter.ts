import { STATES, type State } from "@agent-lifecycle/proto";
import type { ProjectionReader } from "../runtime/projection-reader.ts";
import { cursorNumber, IDENTIFIER_PARAMETER, PAGING_PARAMETERS, type PagingQuery } from "./paging.ts";
import { described, type JsonSchema } from "./schemas/schema-terms.ts";

/** Which children a listing is about. */
export interface ChildrenFilter extends PagingQuery {
  /** States, separated by commas. */
  readonly state?: string;
  readonly source?: string;
  /** Root child id. */
  readonly root?: string;
  readonly stale?: boolean;
  readonly provisional?: boolean;
  readonly text?: string;
}

const ONE_STATE = `(${STATES.join("|")})`;

const FILTERS: Readonly<Record<string, JsonSchema>> = {
  state: {
    type: "string",
    pattern: `^${ONE_STATE}(,${ONE_STATE}){0,7}$`,
    description: `One or more of ${STATES.join(", ")}, separated by commas.`,
  },
  source: IDENTIFIER_PARAMETER,
  root: described(IDENTIFIER_PARAMETER, "lineage.rootChildId."),
  stale: { type: "boolean" },
  provisional: { type: "boolean" },
  text: {
    type: "string",
    minLength: 1,
    maxLength: 200,
    description: "Part of the child id, name, agent type, tool or activity; case does not matter.",
  },
};

/** Query parameters of a listing of children. @param paging limit and cursor */
export function childrenQuerySchema(paging: Readonly<Record<string, JsonSchema>> = PAGING_PARAMETERS): JsonSchema {
  return { type: "object", additionalProperties: false, properties: { ...paging, ...FILTERS } };
}

/** The children that a listing asks for, and one more if there are more. */
export function findChildren(
  reader: ProjectionReader,
  filter: ChildrenFilter,
): ReturnType<ProjectionReader["children"]> {
  const { limit, state, source, root, stale, provisional, text } = filter;
  const beforeKey = cursorNumber(filter);
  return reader.children({
    limit: limit + 1,
    ...(state === undefined ? undefined : { states: state.split(",") as State[] }),
    ...(source === undefined ? undefined : { source }),
    ...(root === undefined ? undefined : { rootChildId: root }),
    ...(stale === undefined ? undefined : { stale }),
    ...(provisional === undefined ? undefined : { provisional }),
    ...(text === undefined ? undefined : { text }),
    ...(beforeKey === undefined ? undefined : { beforeKey }),
  });
}
