// @ts-nocheck
import { expect, test } from "vitest";
import { runInParallel, type StepSequence } from "../../../src/scenario/run/parallel.ts";

/** A sequence that waits for these instants and records when it continues. */
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

test("the sequence with the earliest instant continues first, until all have ended", async () => {
  const went: string[] = [];
  expect(await wakesOf(runInParallel([lane("a", [1, 5], went), lane("b", [2, 3, 9], went)]))).toEqual([
    1, 2, 3, 5, 9,
  ]);
  expect(went).toEqual(["a1", "b2", "b3", "a5", "b9"]);
});

test("at the same instant the first sequence continues until it moves on", async () => {
  const went: string[] = [];
  await wakesOf(runInParallel([lane("a", [7, 7, 8], went), lane("b", [7, 8], went), lane("c", [7], went)]));
  expect(went).toEqual(["a7", "a7", "b7", "c7", "a8", "b8"]);
});

test("empty sequences end at once", async () => {
  const went: string[] = [];
  expect(await wakesOf(runInParallel([]))).toEqual([]);
  expect(await wakesOf(runInParallel([lane("a", [], went), lane("b", [4], went)]))).toEqual([4]);
  expect(went).toEqual(["b4"]);
});

test("a sequence that waits for another continues once the other's end is known", async () => {
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
