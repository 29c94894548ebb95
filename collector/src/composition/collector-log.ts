/** The part of a logger that the collector uses. Event contents are never logged. */
export interface CollectorLog {
  info(members: object, message: string): void;
  error(members: object, message: string): void;
}

/** An error as a line of a log. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
