/** `; did you mean queue?` when one of the known names is close to the given one, or nothing. */
export function suggest(given: string, known: readonly string[]): string {
  const nearest = known
    .map((name) => ({ name, distance: editDistance(given.slice(0, MAX_LENGTH), name.slice(0, MAX_LENGTH)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((one, other) => one.distance - other.distance)[0];
  return nearest === undefined ? "" : `; did you mean ${nearest.name}?`;
}

/** The work grows with the product of both lengths. */
const MAX_LENGTH = 64;

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
function editDistance(from: string, to: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = Number(previous[column - 1]) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwapped
        ? (beforePrevious[column - 2] ?? Number.POSITIVE_INFINITY) + 1
        : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swapped, Number(previous[column]) + 1, Number(current[column - 1]) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return Number(previous[to.length]);
}
