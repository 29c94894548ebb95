/** The bytes of one unfinished line, up to a limit; of what lies beyond only the length is kept. */
export class JsonlLineBuffer {
  private readonly limit: number;
  private storage: Uint8Array = new Uint8Array(0);
  private kept = 0;
  private total = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes appended since the last `clear`, kept or not. */
  get length(): number {
    return this.total;
  }

  /** The kept bytes; valid until the next change. */
  bytes(): Uint8Array {
    return this.storage.subarray(0, this.kept);
  }

  append(part: Uint8Array): void {
    this.total += part.length;
    const room = Math.min(part.length, this.limit - this.kept);
    if (room <= 0) return;
    this.reserve(this.kept + room);
    this.storage.set(room === part.length ? part : part.subarray(0, room), this.kept);
    this.kept += room;
  }

  clear(): void {
    this.kept = 0;
    this.total = 0;
  }

  /** Doubles, so that a line in many small parts costs a copy of each byte only once or twice. */
  private reserve(bytes: number): void {
    if (bytes <= this.storage.length) return;
    const grown = new Uint8Array(Math.min(this.limit, Math.max(bytes, this.storage.length * 2, 1024)));
    grown.set(this.bytes());
    this.storage = grown;
  }
}
