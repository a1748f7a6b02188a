import { expect, test } from "vitest";
import { growthAfterWarmUp, isGrowing, type SoakSample } from "../../soak/growth.ts";
import { soak } from "../../soak/soak.ts";

const MIB = 1024 ** 2;

/** One sample each minute, which differ in their heap only. */
const samplesWithHeap = (heapBytes: (minute: number) => number): SoakSample[] =>
  Array.from({ length: 10 }, (_, minute) => ({
    minute,
    rssBytes: 100 * MIB,
    heapBytes: heapBytes(minute),
    descriptors: 40,
    fileBytes: 10 * MIB,
  }));

test("growth is the slope after the warm-up, and beyond its limit it is a finding", () => {
  const growing = growthAfterWarmUp(samplesWithHeap((minute) => minute * MIB));
  expect(growing.filter(isGrowing)).toEqual([{ measure: "heapBytes", perHour: 60 * MIB, measured: 5 * MIB }]);
  const warmed = growthAfterWarmUp(samplesWithHeap((minute) => Math.min(minute, 4) * 10 * MIB));
  expect(warmed.filter(isGrowing)).toEqual([]);
});

test.runIf(process.platform === "linux")("a short soak gets no unexpected answer", async () => {
  const samples = await soak({ minutes: 0.05 });
  expect(samples.length).toBeGreaterThan(0);
  expect(samples.every(({ descriptors, fileBytes }) => descriptors > 0 && fileBytes > 0)).toBe(true);
});
