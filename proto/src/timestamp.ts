/**
 * RFC 3339 timestamps in UTC, without `Date`: this package never touches a clock, and a calendar is arithmetic.
 * Times inside the program are milliseconds since 1970-01-01T00:00:00Z.
 */

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|\+00:00)$/;
const MS_PER_DAY = 86_400_000;
/** 400 years. */
const DAYS_PER_ERA = 146_097;
/** From 0000-03-01. */
const DAYS_BEFORE_1970 = 719_468;

/**
 * Milliseconds since the epoch, or `undefined` when the text is no real UTC calendar time.
 * Accepts `Z` and `+00:00`; digits below the millisecond are cut. A leap second (`:60`) is no time of this scale.
 */
export function parseTimestamp(text: string): number | undefined {
  return isCanonicalTimestamp(text) ? parseCanonical(text) : parseGeneral(text);
}

/** Whether a text has the form that `formatTimestamp` writes; it may still name no real time. */
export function isCanonicalTimestamp(text: string): boolean {
  if (text.length !== CANONICAL_FORM.length) return false;
  for (let index = 0; index < CANONICAL_FORM.length; index += 1) {
    const unit = text.charCodeAt(index);
    const form = CANONICAL_FORM.charCodeAt(index);
    if (form === DIGIT_ZERO ? unit < DIGIT_ZERO || unit > DIGIT_ZERO + 9 : unit !== form) return false;
  }
  return true;
}

const CANONICAL_FORM = "0000-00-00T00:00:00.000Z";
const DIGIT_ZERO = 0x30;

function parseCanonical(text: string): number | undefined {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const milliseconds = (text.charCodeAt(20) - DIGIT_ZERO) * 100 + twoDigits(text, 21);
  return fromParts(
    year,
    twoDigits(text, 5),
    twoDigits(text, 8),
    twoDigits(text, 11),
    twoDigits(text, 14),
    twoDigits(text, 17),
    milliseconds,
  );
}

function twoDigits(text: string, index: number): number {
  return (text.charCodeAt(index) - DIGIT_ZERO) * 10 + text.charCodeAt(index + 1) - DIGIT_ZERO;
}

function parseGeneral(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const milliseconds = match[7] === undefined ? 0 : Number(match[7].padEnd(3, "0").slice(0, 3));
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Parts;
  return fromParts(year, month, day, hour, minute, second, milliseconds);
}

type Parts = [year: number, month: number, day: number, hour: number, minute: number, second: number];

function fromParts(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  milliseconds: number,
): number | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ofDay = ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
  return daysFromCivil(year, month, day) * MS_PER_DAY + ofDay;
}

/**
 * `YYYY-MM-DDThh:mm:ss.sssZ` for a time between the years 0 and 9999.
 * @throws RangeError when the time is no integer or lies outside those years.
 */
export function formatTimestamp(epochMs: number): string {
  if (!isRepresentable(epochMs)) throw new RangeError(`not a representable time: ${epochMs}`);
  const day = Math.floor(epochMs / MS_PER_DAY);
  const ofDay = epochMs - day * MS_PER_DAY;
  const seconds = Math.floor(ofDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const milliseconds = ofDay - seconds * 1000;
  const clock = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${civilDate(day)}T${clock}.${milliseconds < 100 ? "0" : ""}${milliseconds < 10 ? two(milliseconds) : milliseconds}Z`;
}

/** The form `formatTimestamp` writes, of any text `parseTimestamp` reads; `undefined` for other text. */
export function normalizeTimestamp(text: string): string | undefined {
  const epochMs = parseTimestamp(text);
  if (epochMs === undefined) return undefined;
  return isCanonicalTimestamp(text) ? text : formatTimestamp(epochMs);
}

const EARLIEST = daysFromCivil(0, 1, 1) * MS_PER_DAY;
const LATEST = daysFromCivil(10_000, 1, 1) * MS_PER_DAY - 1;

/** Whether `formatTimestamp` can write this time. */
export function isRepresentable(epochMs: number): boolean {
  return Number.isInteger(epochMs) && epochMs >= EARLIEST && epochMs <= LATEST;
}

// A producer's events share few days: the last date text is nearly always the next one asked for.
let cachedDay = Number.NaN;
let cachedDate = "";

function civilDate(day: number): string {
  if (day !== cachedDay) {
    const { year, month, dayOfMonth } = civilFromDays(day);
    cachedDate = `${pad(year, 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}`;
    cachedDay = day;
  }
  return cachedDate;
}

const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, "0"));

function two(value: number): string {
  return TWO_DIGITS[value] as string;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

// The year is counted from March, so that the leap day is the last day of a year and needs no special case.
function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_BEFORE_1970;
}

function civilFromDays(days: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = days + DAYS_BEFORE_1970;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, dayOfMonth: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1 };
}
