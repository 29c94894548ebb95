import type { Endpoint } from "./configuration.ts";

/** Units from the largest to the smallest, with their factor. */
type Units = readonly (readonly [unit: string, factor: number])[];

const DURATIONS: Units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

const KIBIBYTE = 1024;
const SIZES: Units = [
  ["TiB", KIBIBYTE ** 4],
  ["GiB", KIBIBYTE ** 3],
  ["MiB", KIBIBYTE ** 2],
  ["KiB", KIBIBYTE],
  ["B", 1],
];

/** `30s`, `1h`, `500ms`, `7d`, `1.5h` in milliseconds, or `undefined` when it is no duration of whole milliseconds above 0. */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, DURATIONS);
}

/** As one would write it, without loss: `30s`. */
export function formatDuration(milliseconds: number): string {
  return formatQuantity(milliseconds, DURATIONS);
}

/** `64KiB`, `64MiB`, `10GiB` in bytes, or `undefined` when it is no size of whole bytes above 0. */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text, SIZES);
}

/** As one would write it, without loss: `64MiB`. */
export function formatSize(bytes: number): string {
  return formatQuantity(bytes, SIZES);
}

function parseQuantity(text: string, units: Units): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)([A-Za-z]{1,3})$/.exec(text);
  const factor = units.find(([unit]) => unit === match?.[2])?.[1];
  if (match === null || factor === undefined) return undefined;
  // Thousandths are whole numbers, which a fraction in binary would not be: 1.1 s is 1,100 ms.
  const quantity = (Math.round(Number(match[1]) * 1_000) * factor) / 1_000;
  return Number.isSafeInteger(quantity) && quantity > 0 ? quantity : undefined;
}

function formatQuantity(quantity: number, units: Units): string {
  const [unit, factor] = units.find(([, size]) => quantity % size === 0) ?? ["", 1];
  return `${quantity / factor}${unit}`;
}

/** `127.0.0.1:4318` or `[::1]:4318`, or `undefined`. Which ports there are is not asked here. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253})):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  return host === undefined ? undefined : { host, port: Number(match?.[3]) };
}

export function formatEndpoint({ host, port }: Endpoint): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** What `limits.memory` comes to when the process may use so much. Both in bytes. */
export function memoryLimitBytes(memory: number | `${number}%`, availableBytes: number): number {
  return typeof memory === "number" ? memory : Math.floor((availableBytes * Number.parseFloat(memory)) / 100);
}
