import { expect, test } from "vitest";
import { runInParallel, type StepSequence } from "../../../src/scenario/run/parallel.ts";

/** A lane that wakes at these instants, and notes when it goes on. */
async function* lane(name: string, instants: readonly number[], went: string[]): StepSequence {
  for (const at of instants) {
    yield { at };
    went.push(`${name}${at}`);
  }
}

async function wakesOf(lanes: StepSequence): Promise<number[]> {
  const wakes: number[] = [];
  for await (const { at } of lanes) wakes.push(at);
  return wakes;
}

test("the lane whose instant is the earliest goes on first, until all are over", async () => {
  const went: string[] = [];
  expect(await wakesOf(runInParallel([lane("a", [1, 5], went), lane("b", [2, 3, 9], went)]))).toEqual([
    1, 2, 3, 5, 9,
  ]);
  expect(went).toEqual(["a1", "b2", "b3", "a5", "b9"]);
});

test("of lanes at the same instant, the first one goes on first, as long as it stays there", async () => {
  const went: string[] = [];
  await wakesOf(runInParallel([lane("a", [7, 7, 8], went), lane("b", [7, 8], went), lane("c", [7], went)]));
  expect(went).toEqual(["a7", "a7", "b7", "c7", "a8", "b8"]);
});

test("lanes with nothing in them are over at once", async () => {
  const went: string[] = [];
  expect(await wakesOf(runInParallel([]))).toEqual([]);
  expect(await wakesOf(runInParallel([lane("a", [], went), lane("b", [4], went)]))).toEqual([4]);
  expect(went).toEqual(["b4"]);
});

test("a lane that waits for another goes on when that one has told its instant", async () => {
  const went: string[] = [];
  let ended = Number.POSITIVE_INFINITY;
  async function* first(): StepSequence {
    yield* lane("a", [3, 6], went);
    ended = 8;
    yield* lane("a", [7, 9], went);
  }
  async function* second(): StepSequence {
    yield {
      get at() {
        return ended;
      },
    };
    went.push(`b${ended}`);
  }
  await wakesOf(runInParallel([first(), runInParallel([second()])]));
  expect(went).toEqual(["a3", "a6", "a7", "b8", "a9"]);
});
