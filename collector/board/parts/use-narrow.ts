import { useEffect, useState } from "preact/hooks";

const NARROW = "(max-width: 46rem)";

/** Whether the page is as narrow as a telephone. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const look = (): void => setNarrow(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isNarrow;
}

/** Heights of rows, in CSS pixels, as the style sheet draws them. */
export function rowHeight(isNarrow: boolean): number {
  return isNarrow ? 112 : 58;
}

export const HEADING_HEIGHT = 44;
