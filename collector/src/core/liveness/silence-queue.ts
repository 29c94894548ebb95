import type { ChildRecord } from "../projection/child-record.ts";
import { MinHeap } from "./min-heap.ts";

interface Watched {
  record: ChildRecord;
  place: "line" | "heap" | "none";
  /** The entry of the heap that counts, perhaps from an earlier stay: none of a later silence is added beside it. */
  heapEntry: HeapEntry | undefined;
  previous: Watched | undefined;
  next: Watched | undefined;
}

interface HeapEntry {
  readonly silentSince: number;
  readonly watched: Watched;
}

/**
 * Children ordered by the start of their silence. Evidence nearly always arrives in the order of time, so that a child
 * that speaks moves to the end of a linked line in constant time, and a look for expired ones reads only the front.
 * Old evidence (a backfill) would have to walk the line: such children wait in a heap instead.
 */
export class SilenceQueue {
  readonly #watched = new Map<number, Watched>();
  readonly #heap = new MinHeap<HeapEntry>((entry) => entry.silentSince);
  #first: Watched | undefined;
  #last: Watched | undefined;

  get size(): number {
    return this.#watched.size;
  }

  /** Starts watching a child, or takes note of its new record. */
  watch(record: ChildRecord): void {
    const known = this.#watched.get(record.key);
    if (known === undefined) {
      const added: Watched = { record, place: "none", heapEntry: undefined, previous: undefined, next: undefined };
      this.#watched.set(record.key, added);
      this.#enqueue(added);
      return;
    }
    const moves = known.record.silentSince !== record.silentSince;
    known.record = record;
    // In the heap, a later silence is found when the earlier one comes up.
    if (!moves || (known.place === "heap" && isFoundBy(known.heapEntry, record))) return;
    this.#unlink(known);
    this.#enqueue(known);
  }

  unwatch(record: ChildRecord): void {
    const known = this.#watched.get(record.key);
    if (known === undefined) return;
    this.#unlink(known);
    known.place = "none";
    this.#watched.delete(record.key);
  }

  /** Takes out every child that has been silent since `latest` or longer; the work grows with how many there are. */
  takeSilentSince(latest: number): readonly ChildRecord[] {
    const taken: ChildRecord[] = [];
    while (this.#first !== undefined && this.#first.record.silentSince <= latest) taken.push(this.#take(this.#first));
    for (let entry = this.#heap.peek(); entry !== undefined && entry.silentSince <= latest; entry = this.#heap.peek()) {
      this.#heap.pop();
      const { watched } = entry;
      if (watched.heapEntry !== entry) continue;
      watched.heapEntry = undefined;
      if (watched.place !== "heap") continue;
      if (watched.record.silentSince <= latest) taken.push(this.#take(watched));
      else this.#enqueue(watched);
    }
    return taken;
  }

  /** No child has been silent for longer than since this time. */
  get earliest(): number | undefined {
    const heap = this.#heap.peek()?.silentSince;
    const line = this.#first?.record.silentSince;
    if (heap === undefined || line === undefined) return heap ?? line;
    return Math.min(heap, line);
  }

  #take(watched: Watched): ChildRecord {
    this.unwatch(watched.record);
    return watched.record;
  }

  #enqueue(watched: Watched): void {
    const last = this.#last;
    if (last !== undefined && watched.record.silentSince < last.record.silentSince) {
      watched.place = "heap";
      if (isFoundBy(watched.heapEntry, watched.record)) return;
      watched.heapEntry = { silentSince: watched.record.silentSince, watched };
      this.#heap.push(watched.heapEntry);
      return;
    }
    watched.place = "line";
    watched.previous = last;
    watched.next = undefined;
    if (last === undefined) this.#first = watched;
    else last.next = watched;
    this.#last = watched;
  }

  #unlink(watched: Watched): void {
    if (watched.place !== "line") return;
    if (watched.previous === undefined) this.#first = watched.next;
    else watched.previous.next = watched.next;
    if (watched.next === undefined) this.#last = watched.previous;
    else watched.next.previous = watched.previous;
    watched.previous = undefined;
    watched.next = undefined;
  }
}

function isFoundBy(entry: HeapEntry | undefined, record: ChildRecord): boolean {
  return entry !== undefined && entry.silentSince <= record.silentSince;
}
