import {
  AuthoritySchedule,
  type AuthorityStatement,
  DEFAULT_ASKING_POLICY,
  type Question,
} from "@agent-lifecycle/collector/projection";
import { describe, expect, test } from "vitest";

const { intervalMs, pauseMs, retryMs, maxRetryMs } = DEFAULT_ASKING_POLICY;
const EMPTY: AuthorityStatement = {
  epoch: "e-1",
  snapshotId: "s-1",
  observedAt: 0,
  isComplete: true,
  coverage: "all",
  listed: new Set(),
};

function scheduleOf(random: () => number = () => 0): AuthoritySchedule {
  return new AuthoritySchedule(0, random);
}

/** @throws when nothing is due. */
function take(schedule: AuthoritySchedule, now: number): Question {
  const question = schedule.take(now);
  if (question === undefined) throw new Error(`nothing is due at ${now}`);
  return question;
}

/** A schedule whose first question was asked and answered at 0. */
function answeredSchedule(): AuthoritySchedule {
  const schedule = scheduleOf();
  schedule.answered(take(schedule, 0), EMPTY, 0);
  return schedule;
}

describe("an authority is asked", () => {
  test("when its session opens", () => {
    expect(scheduleOf().take(0)).toEqual({ askedAt: 0, reasons: ["session_open"] });
  });

  test("at every interval after an answer, a little later at random", () => {
    const punctual = answeredSchedule();
    expect(punctual.take(intervalMs - 1)).toBeUndefined();
    expect(punctual.take(intervalMs)?.reasons).toEqual(["interval"]);
    const late = scheduleOf(() => 0.999);
    late.answered(take(late, 0), EMPTY, 0);
    expect(late.take(intervalMs)).toBeUndefined();
    expect(late.take(intervalMs * 1.2)?.reasons).toEqual(["interval"]);
  });

  test("once for all that want it at the same time", () => {
    const schedule = answeredSchedule();
    for (let child = 0; child < 1_000; child += 1) schedule.want("stale", 5_000);
    schedule.want("reconnect", 5_000);
    expect(schedule.take(5_000)?.reasons).toEqual(["stale", "reconnect"]);
    expect(schedule.take(5_000)).toBeUndefined();
  });

  test("again after a question that was on its way: its answer may have been taken before the wish", () => {
    const schedule = scheduleOf();
    const first = take(schedule, 0);
    schedule.want("stale", 10);
    expect(schedule.take(20)).toBeUndefined();
    schedule.answered(first, EMPTY, 100);
    expect(schedule.take(100 + pauseMs - 1)).toBeUndefined();
    expect(schedule.take(100 + pauseMs)?.reasons).toEqual(["stale"]);
  });

  test("less and less often while it fails, and not sooner for a child that goes stale", () => {
    const schedule = scheduleOf();
    let now = 0;
    for (const waitMs of [retryMs, 2 * retryMs, 4 * retryMs]) {
      schedule.failed(take(schedule, now), "refused", now);
      schedule.want("stale", now);
      expect(schedule.take(now + waitMs - 1)).toBeUndefined();
      now += waitMs;
    }
    for (let failure = 0; failure < 100; failure += 1) {
      schedule.failed(take(schedule, now), "refused", now);
      now += maxRetryMs;
    }
    expect(schedule.status).toMatchObject({ failures: 103, failuresInARow: 103, lastFailure: "refused" });
  });

  test("at once when it comes back, however long it failed", () => {
    const schedule = scheduleOf();
    for (let failure = 0, now = 0; failure < 10; failure += 1, now += maxRetryMs) {
      schedule.failed(take(schedule, now), "refused", now);
    }
    const now = 9 * maxRetryMs + 1;
    expect(schedule.take(now)).toBeUndefined();
    schedule.want("reconnect", now);
    schedule.answered(take(schedule, now), EMPTY, now);
    expect(schedule.status).toMatchObject({ failuresInARow: 0, lastFailure: undefined, lastAnsweredAt: now });
  });
});

describe("after an absence of the collector an authority is asked", () => {
  test("at once, however long it failed, and whatever the clock says now", () => {
    const schedule = scheduleOf();
    schedule.failed(take(schedule, 0), "refused", 0);
    schedule.resumed(-3_600_000);
    expect(schedule.take(-3_600_000)?.reasons).toEqual(["resumed"]);
  });

  test("again at once when a question was on its way, whatever becomes of that", () => {
    for (const end of ["answered", "failed"] as const) {
      const schedule = scheduleOf();
      const first = take(schedule, 0);
      schedule.resumed(5_000);
      expect(schedule.take(5_000)).toBeUndefined();
      if (end === "answered") schedule.answered(first, EMPTY, 5_100);
      else schedule.failed(first, "cut off", 5_100);
      expect(schedule.take(5_100)?.reasons).toEqual(["resumed"]);
    }
  });
});

test("an answer to a question that was given up changes nothing", () => {
  const schedule = scheduleOf();
  const first = take(schedule, 0);
  schedule.failed(first, "no answer in time", 10);
  schedule.answered(first, EMPTY, 20);
  expect(schedule.status).toMatchObject({ answers: 0, failures: 1, nextDueAt: 10 + retryMs });
});
