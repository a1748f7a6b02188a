import type { Benchmark } from "../benchmark.ts";
import type { Child } from "../environment/child.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { LARGE_HEAP, largeWorld, type SimulatedWorld, smallWorld } from "../environment/simulated-world.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import type { PauseMeasurement, WorldProcessOptions } from "../processes/world-process.ts";
import { measureInRounds, pairs } from "../rounds.ts";

/** Requests of the world process. */
type WorldAction = "copy" | "snapshot" | "fork" | "past" | "opening" | "commits" | "advance";

const LARGE_MS = 500;
const SMALL_MS = 20;

const elapsed = ({ elapsedMs }: PauseMeasurement) => elapsedMs;
const pause = ({ pauseMs }: PauseMeasurement) => pauseMs;

export const fork: Benchmark = {
  name: "fork",
  measures:
    "snapshot and fork of a large and a small world, compared with a file copy; pauses of other requests",
  async run(environment, progress) {
    const large = await largeWorld(environment, progress);
    const worldProcess = await startWorldProcess(environment, large);
    const sides = sidesOf(worldProcess, ["copy", "snapshot", "fork", "commits", "advance"]);
    progress("warming up");
    await measureInRounds(1, sides, () => undefined);
    const rounds = await measureInRounds(environment.quick ? 1 : 5, sides, progress);
    progress("forks at a past event, opening of forks");
    const pastRounds = await measureInRounds(
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
      pauseFigure("  longest pause during a snapshot", "snapshot"),
      pauseFigure("  longest pause during a fork", "fork"),
      pauseFigure("  longest pause during an advance", "advance"),
      plain(
        "  opening the fork (blocks other requests)",
        pastRounds.map(({ opening }) => opening.elapsedMs),
      ),
      plain(
        "  fork at the middle of its history",
        pastRounds.map(({ past }) => past.elapsedMs),
      ),
      plain(
        "  longest pause during that fork",
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
  await measureInRounds(3, sides, () => undefined);
  progress("small world");
  const rounds = await measureInRounds(environment.quick ? 3 : 25, sides, () => undefined);
  const openings = await measureInRounds(
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
      "file copy",
      pairs(rounds, "snapshot", "copy", elapsed),
      target,
    ),
    comparedFigure(`fork, ${title}`, "ms", "file copy", pairs(rounds, "fork", "copy", elapsed), target),
  ];
}

async function startWorldProcess(environment: BenchEnvironment, { data }: SimulatedWorld): Promise<Child> {
  const options: WorldProcessOptions = { data, migrations: MIGRATIONS };
  return environment.start([LARGE_HEAP, environment.script("world-process"), JSON.stringify(options)]);
}

function sidesOf<Side extends WorldAction>(
  worldProcess: Child,
  sides: readonly Side[],
): Record<Side, () => Promise<PauseMeasurement>> {
  return Object.fromEntries(
    sides.map((side) => [side, () => worldProcess.request<PauseMeasurement>(side)]),
  ) as Record<Side, () => Promise<PauseMeasurement>>;
}
