/** A Tuesday morning; tests that do not care about the time start here. */
export const START_MS: number = 1_788_253_200_000;
