import { createJsonlReader, DEFAULT_MAX_LINE_BYTES, type JsonlItem, MAX_EXCERPT_LENGTH } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const utf8 = new TextEncoder();

function readAll(input: Uint8Array | string, cuts: readonly number[] = [], maxLineBytes?: number): JsonlItem[] {
  const bytes = typeof input === "string" ? utf8.encode(input) : input;
  const reader = createJsonlReader(maxLineBytes === undefined ? {} : { maxLineBytes });
  const items: JsonlItem[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    items.push(...reader.push(bytes.slice(from, cut)));
    from = cut;
  }
  items.push(...reader.push(bytes.slice(from)), ...reader.end());
  return items;
}

function summary(items: readonly JsonlItem[]): unknown[] {
  return items.map((item) => (item.ok ? item.value : item.code));
}

describe("a JSONL reader", () => {
  test("reads one object per line, with its place", () => {
    expect(readAll('{"a":1}\n{"b":2}\n')).toEqual([
      { ok: true, value: { a: 1 }, byteOffset: 0, line: 1, terminated: true },
      { ok: true, value: { b: 2 }, byteOffset: 8, line: 2, terminated: true },
    ]);
  });

  test("does not mind a byte-order mark, CRLF and blank lines, and counts them as bytes and lines", () => {
    expect(readAll('\ufeff{"a":1}\r\n\r\n \t\n\n{"é":2}\r\n{"c":3}\n')).toEqual([
      { ok: true, value: { a: 1 }, byteOffset: 0, line: 1, terminated: true },
      { ok: true, value: { é: 2 }, byteOffset: 18, line: 5, terminated: true },
      { ok: true, value: { c: 3 }, byteOffset: 28, line: 6, terminated: true },
    ]);
  });

  test("a byte-order mark inside the stream is not white space", () => {
    expect(summary(readAll('{"a":1}\n\ufeff{"b":2}\n'))).toEqual([{ a: 1 }, "malformed"]);
  });

  test("keeps the valid lines around bad ones", () => {
    const input = '{"a":1}\n{"a":\nnull\n[1]\n"x"\n5\n{"a":1}}\n{"b":2}\n';
    const bad = new Array(6).fill("malformed");
    expect(summary(readAll(input))).toEqual([{ a: 1 }, ...bad, { b: 2 }]);
  });

  test("bytes that are no UTF-8 are malformed", () => {
    for (const bad of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc0, 0xaf]]) {
      const line = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bad), Buffer.from('"}\n{"b":2}\n')]);
      expect(summary(readAll(line))).toEqual(["malformed", { b: 2 }]);
    }
  });

  test("a last line that stops in the middle is truncated", () => {
    const [, problem] = readAll('{"a":1}\n{"b":');
    expect(problem).toEqual({ ok: false, code: "truncated", byteOffset: 8, line: 2, excerpt: '{"b":' });
  });

  test("a last line that is whole counts, and it is said that its end is missing", () => {
    expect(readAll('{"a":1}')).toEqual([{ ok: true, value: { a: 1 }, byteOffset: 0, line: 1, terminated: false }]);
    expect(readAll('{"a":1}\n  ')).toHaveLength(1);
    expect(readAll("")).toEqual([]);
  });

  test("no line longer than the limit is read, and none shorter is refused", () => {
    const line = (bytes: number) => `{"a":"${"x".repeat(bytes - 8)}"}`;
    for (const end of ["\n", "\r\n"]) {
      expect(summary(readAll(line(64) + end, [], 64))).toHaveLength(1);
      expect(readAll(line(64) + end, [], 64)[0]?.ok).toBe(true);
      expect(summary(readAll(line(65) + end, [], 64))).toEqual(["oversize"]);
      expect(readAll(`\ufeff${line(64)}${end}`, [], 64)[0]?.ok).toBe(true);
    }
    expect(readAll(`${line(DEFAULT_MAX_LINE_BYTES)}\n`)[0]?.ok).toBe(true);
    expect(summary(readAll(`${line(DEFAULT_MAX_LINE_BYTES + 1)}\n{"b":2}\n`))).toEqual(["oversize", { b: 2 }]);
    expect(summary(readAll(line(65), [], 64))).toEqual(["oversize"]);
  });

  test("every way to cut the stream gives the same items", () => {
    const line = fc.oneof(
      fc
        .dictionary(fc.string({ unit: "grapheme", maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }))
        .map((value) => Buffer.from(JSON.stringify(value))),
      fc
        .constantFrom("", " ", "{", "null", '{"é":"🐝"}', '{"long":"0123456789012345678901234567890123456789"}')
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    );
    const end = fc.constantFrom("\n", "\r\n", "\n\n");
    const stream = fc
      .tuple(fc.boolean(), fc.array(fc.tuple(line, end), { maxLength: 6 }), line)
      .map(([mark, lines, last]) =>
        Buffer.concat([
          Buffer.from(mark ? "\ufeff" : ""),
          ...lines.flatMap(([bytes, ending]) => [bytes, Buffer.from(ending)]),
          last,
        ]),
      );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, cuts) => {
        const whole = readAll(bytes, [], 48);
        expect(readAll(bytes, cuts, 48)).toEqual(whole);
        expect(readAll(bytes, Array.from(bytes.keys()), 48)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test("a chunk may be reused by its owner after push", () => {
    const reader = createJsonlReader();
    const chunk = utf8.encode('{"a":');
    reader.push(chunk);
    chunk.fill(0x20);
    expect(summary(reader.push(utf8.encode("1}\n")))).toEqual([{ a: 1 }]);
  });

  test("a line of a gigabyte is passed over in the memory of one line", () => {
    const reader = createJsonlReader();
    const chunk = new Uint8Array(1 << 20).fill(0x78);
    const before = process.memoryUsage();
    for (let part = 0; part < 1024; part += 1) expect(reader.push(chunk)).toEqual([]);
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 << 20);
    const [problem, record] = reader.push(utf8.encode('\n{"a":1}\n'));
    expect(problem).toMatchObject({ code: "oversize", byteOffset: 0, line: 1 });
    expect(record).toMatchObject({ value: { a: 1 }, byteOffset: 2 ** 30 + 1, line: 2 });
  });

  test("32 problems are described, all are counted", () => {
    const reader = createJsonlReader({ maxLineBytes: 16 });
    const items = reader.push(utf8.encode(`${"{\n".repeat(40)}${"x".repeat(17)}\n{"a":1}\n{`));
    expect(items.filter((item) => !item.ok)).toHaveLength(32);
    expect(summary(items).at(-1)).toEqual({ a: 1 });
    expect(reader.end()).toEqual([]);
    expect(reader.problems).toEqual({ malformed: 40, oversize: 1, truncated: 1 });
  });

  test("excerpts are short and hold no secret, whatever the limit cuts", () => {
    const secret = "hunter2EXAMPLE";
    const [malformed] = readAll(`{"password": "${secret}", ${"x".repeat(500)}\n`);
    expect(malformed).toMatchObject({ excerpt: expect.stringContaining('"password": "[redacted]"') as string });
    const [oversize] = readAll(`${"x".repeat(70_000)}\n`);
    for (const item of [malformed, oversize])
      expect(item?.ok === false && item.excerpt.length <= MAX_EXCERPT_LENGTH).toBe(true);
    for (let padding = 0; padding < 1100; padding += 1) {
      const key = `sk-ant-${"EXAMPLE".repeat(20)}`;
      const [item] = readAll(
        `${key} ${key} ${key} ${key} ${key} ${".".repeat(padding)} ${key} ${"x ".repeat(35_000)}\n`,
      );
      expect(JSON.stringify(item)).not.toContain("EXAMPLE");
    }
  });

  test("a limit that is no positive integer is refused", () => {
    for (const maxLineBytes of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => createJsonlReader({ maxLineBytes })).toThrow(RangeError);
    }
  });
});
