/** What a generated validator says of its last call when it returned `false`. */
export interface ValidationError {
  /** JSON pointer of the member. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Validator {
  (value: unknown): boolean;
  readonly errors?: readonly ValidationError[] | null;
}

/** The first failing member of the last call, dotted (`lineage.external`), and what is wrong with it. */
export function firstProblem(validator: Validator): { readonly path: string; readonly text: string } {
  const error = validator.errors?.[0];
  if (error === undefined) return { path: "", text: "invalid" };
  const pointer = error.instancePath.split("/").slice(1);
  const missing = error.params.missingProperty;
  if (typeof missing === "string") pointer.push(missing);
  return { path: pointer.join("."), text: error.message ?? error.keyword };
}
