// @ts-nocheck
import { expect } from "vitest";
import type { ModelHost } from "./model-command.ts";
import type { PlatformModel } from "./platform-model.ts";

/** Advances double and model. Due work runs in order, at its own instants. */
export async function advance(
  model: PlatformModel,
  stage: ModelHost,
  target: { by: number } | { next: true },
): Promise<void> {
  const requested = "by" in target ? { by: `${target.by}ms` } : target;
  const { status, body } = await stage.double().sim("POST", "/clock/advance", requested);
  expect(status).toBe(200);
  let at = model.now;
  for (const event of body.events) {
    expect(Date.parse(event.at), "events come in order, each at its due time").toBeGreaterThanOrEqual(at);
    at = Date.parse(event.at);
  }
  model.now = Date.parse(body.now);
  expect(at).toBeLessThanOrEqual(model.now);
  for (const activity of model.scheduledActivities.splice(0)) {
    const { at, durationMs, endpoint } = activity;
    if (at > model.now) {
      model.scheduledActivities.push(activity);
      continue;
    }
    endpoint.project.stirredAt = Math.max(endpoint.project.stirredAt, at);
    endpoint.busyUntil = Math.max(endpoint.busyUntil, at + durationMs);
  }
}
