/** A problem document (RFC 9457), as the collector refuses with. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly [member: string]: unknown;
}

/** The collector answered, and not with what was asked for. */
export class ApiError extends Error {
  /** HTTP status. 401: a token is wanted or not known. 403: the token is not for this. */
  readonly status: number;
  readonly problem: Problem | undefined;
  /** After how long to come again. Milliseconds; `undefined` where it was not said. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, problem: Problem | undefined, retryAfterMs: number | undefined) {
    super(problem === undefined ? `the collector answered ${status}` : `${problem.title}: ${problem.detail}`);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads what a refusal says, whatever form it has. */
export async function apiErrorOf(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  const isProblem = response.headers.get("content-type")?.startsWith("application/problem+json") === true;
  const problem = isProblem ? ((await response.json().catch(() => undefined)) as Problem | undefined) : undefined;
  return new ApiError(response.status, problem, retryAfterMs);
}
