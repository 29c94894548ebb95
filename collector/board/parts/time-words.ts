const ZONE = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** A time of day with its zone, and with the day where it is not today. */
export function clockWords(timestamp: string): string {
  const time = new Date(timestamp);
  return (time.toDateString() === new Date().toDateString() ? TIME : DAY_AND_TIME).format(time);
}

/** The name of the zone that times are shown in. */
export function zoneWords(): string {
  return ZONE.formatToParts(new Date()).find(({ type }) => type === "timeZoneName")?.value ?? "local time";
}

/** How long ago, in one unit: `4 s`, `12 min`, `3 h`, `2 d`. A time ahead of the clock is `0 s`. */
export function ageWords(timestamp: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp)) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
