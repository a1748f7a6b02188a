import type { Benchmark } from "../benchmark.ts";
import type { Child } from "../environment/child.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { LARGE_HEAP, largeWorld, type SimulatedWorld, smallWorld } from "../environment/simulated-world.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import type { PauseMeasurement, WorldProcessOptions } from "../processes/keeper.ts";
import { inRounds, pairs } from "../rounds.ts";

/** What a keeper is asked to do. */
type WorldAction = "copy" | "snapshot" | "fork" | "past" | "opening" | "commits" | "advance";

const LARGE_MS = 500;
const SMALL_MS = 20;

const elapsed = ({ elapsedMs }: PauseMeasurement) => elapsedMs;
const pause = ({ pauseMs }: PauseMeasurement) => pauseMs;

export const fork: Benchmark = {
  name: "fork",
  measures:
    "a snapshot and a fork of a large world and of a small one, against a bare copy of the file, and how long others wait",
  async run(environment, progress) {
    const large = await largeWorld(environment, progress);
    const worldProcess = await startWorldProcess(environment, large);
    const sides = sidesOf(worldProcess, ["copy", "snapshot", "fork", "commits", "advance"]);
    progress("warming up");
    await inRounds(1, sides, () => undefined);
    const rounds = await inRounds(environment.quick ? 1 : 5, sides, progress);
    progress("forks of the past, and the opening of forks");
    const pastRounds = await inRounds(
      environment.quick ? 1 : 3,
      sidesOf(worldProcess, ["past", "opening"]),
      () => undefined,
    );
    await environment.stop(worldProcess);
    const plain = (figure: string, of: readonly number[]) => plainFigure(figure, "ms", median(of));
    const pauseFigure = (figure: string, side: "snapshot" | "fork" | "advance") =>
      comparedFigure(figure, "ms", "100 commits", pairs(rounds, side, "commits", pause));
    return [
      ...copyFigures(large, rounds, LARGE_MS),
      pauseFigure("  longest pause in a snapshot", "snapshot"),
      pauseFigure("  longest pause in a fork", "fork"),
      pauseFigure("  longest pause in an advance", "advance"),
      plain(
        "  opening the fork, all of it a pause",
        pastRounds.map(({ opening }) => opening.elapsedMs),
      ),
      plain(
        "  fork of the past, at half of its events",
        pastRounds.map(({ past }) => past.elapsedMs),
      ),
      plain(
        "  longest pause in a fork of the past",
        pastRounds.map(({ past }) => past.pauseMs),
      ),
      ...(await smallFigures(environment, progress)),
    ];
  },
};

async function smallFigures(
  environment: BenchEnvironment,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const small = await smallWorld(environment);
  const worldProcess = await startWorldProcess(environment, small);
  const sides = sidesOf(worldProcess, ["copy", "snapshot", "fork"]);
  await inRounds(3, sides, () => undefined);
  progress("a small world");
  const rounds = await inRounds(environment.quick ? 3 : 25, sides, () => undefined);
  const openings = await inRounds(
    environment.quick ? 1 : 9,
    sidesOf(worldProcess, ["opening"]),
    () => undefined,
  );
  await environment.stop(worldProcess);
  const opening = median(openings.map(({ opening }) => opening.elapsedMs));
  return [...copyFigures(small, rounds, SMALL_MS), plainFigure("  opening the fork", "ms", opening)];
}

function copyFigures(
  { title }: SimulatedWorld,
  rounds: readonly Record<"copy" | "snapshot" | "fork", PauseMeasurement>[],
  atMost: number,
): Figure[] {
  const target = { of: "value", atMost } as const;
  return [
    comparedFigure(
      `snapshot, ${title}`,
      "ms",
      "bare copy",
      pairs(rounds, "snapshot", "copy", elapsed),
      target,
    ),
    comparedFigure(`fork, ${title}`, "ms", "bare copy", pairs(rounds, "fork", "copy", elapsed), target),
  ];
}

async function startWorldProcess(environment: BenchEnvironment, { data }: SimulatedWorld): Promise<Child> {
  const options: WorldProcessOptions = { data, migrations: MIGRATIONS };
  return environment.start([LARGE_HEAP, environment.script("keeper"), JSON.stringify(options)]);
}

function sidesOf<Side extends WorldAction>(
  worldProcess: Child,
  sides: readonly Side[],
): Record<Side, () => Promise<PauseMeasurement>> {
  return Object.fromEntries(
    sides.map((side) => [side, () => worldProcess.ask<PauseMeasurement>(side)]),
  ) as Record<Side, () => Promise<PauseMeasurement>>;
}
