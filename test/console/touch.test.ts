import type { CDPSession } from "playwright-core";
import { expect, test } from "vitest";
import { addProject, openConsole, shareServer } from "../support/browser/browser.ts";

shareServer();

/** WCAG 2.2, success criterion 2.5.8. */
const SMALLEST_TARGET_PX = 24;

const SMALL_TARGETS = `[...document.querySelectorAll("button, select, input, [role=tab]")]
  .map((element) => [element, element.getBoundingClientRect()])
  .filter(([, { width, height }]) => height > 0 && Math.min(width, height) < ${SMALLEST_TARGET_PX})
  .map(([element, { width, height }]) => [element.outerHTML.slice(0, 90), width, height].join(" "))`;
const OVERFLOWING_TABS = `[...document.querySelectorAll("[role=tab]")]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`;
const MOVING = `[...document.querySelectorAll("*")]
  .filter((element) => {
    const { transitionDuration, animationName } = getComputedStyle(element);
    return transitionDuration !== "0s" || animationName !== "none";
  })
  .map((element) => element.outerHTML.slice(0, 80))`;

const opened = () => openConsole({ touch: true, width: 420, before: (server) => addProject(server, "shop") });

type Fingers = readonly (readonly [x: number, y: number])[];

async function moveFingers(session: CDPSession, from: Fingers, to: Fingers): Promise<void> {
  const points = (fingers: Fingers) => fingers.map(([x, y], id) => ({ x, y, id }));
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(from) });
  const STEPS = 5;
  for (let step = 1; step <= STEPS; step += 1) {
    const between = from.map(([x, y], index) => {
      const [endX, endY] = to[index] ?? [x, y];
      return [x + ((endX - x) * step) / STEPS, y + ((endY - y) * step) / STEPS] as const;
    });
    await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(between) });
  }
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

test("one finger moves the timeline, and two fingers zoom it", async () => {
  const { page } = await opened();
  const drawing = page.getByRole("application");
  await drawing.scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "shop / main", exact: true }).waitFor();
  const session = await page.context().newCDPSession(page);
  const box = await drawing.boundingBox();
  if (box === null) throw new Error("the timeline has no drawing");
  const y = box.y + 60;
  const [left, right] = [box.x + box.width * 0.3, box.x + box.width * 0.7];
  const follow = page.getByRole("button", { name: "Follow" });
  expect(await follow.getAttribute("aria-pressed")).toBe("true");
  await moveFingers(session, [[left, y]], [[right, y]]);
  await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("false");
  await page.getByRole("button", { name: "1 h", exact: true }).waitFor();
  const pressedHour = () =>
    page.getByRole("button", { name: "1 h", exact: true }).getAttribute("aria-pressed");
  expect(await pressedHour()).toBe("true");
  const middle = (left + right) / 2;
  await moveFingers(
    session,
    [
      [middle - 20, y],
      [middle + 20, y],
    ],
    [
      [left - 20, y],
      [right + 20, y],
    ],
  );
  await expect.poll(pressedHour).toBe("false");
  expect(await page.getByRole("heading", { name: "shop / main" }).count()).toBe(0);
});

test("on a touch screen, targets have at least 24 px, and nothing moves if motion is reduced", async () => {
  const { page } = await opened();
  await page.getByRole("button", { name: "shop / main", exact: true }).click();
  await page.getByRole("heading", { name: "Why" }).waitFor();
  expect(await page.evaluate(OVERFLOWING_TABS)).toEqual([]);
  for (const tab of ["Events", "Faults", "What if", "Snapshots", "Worlds", "API keys"]) {
    await page.getByRole("tab", { name: tab }).click();
    expect(await page.evaluate(SMALL_TARGETS), tab).toEqual([]);
    expect(await page.evaluate(MOVING), tab).toEqual([]);
  }
});
