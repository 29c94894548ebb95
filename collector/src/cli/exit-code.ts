/** What the process's exit code says, the same in every command. */
export const EXIT_CODE = {
  /** It did what was asked, and what it looked at is as it should be. */
  success: 0,
  /** It did what was asked, and found something wrong. */
  findings: 1,
  /** It could not do what was asked: bad arguments, unreachable collector, unusable file. */
  unusable: 2,
  /** `run` itself could not do it; every other code of `run` is the command's. */
  wrapperFailed: 125,
} as const;
