import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyWithLog } from "../../../src/postgres/engine/cluster-copy.ts";
import type { Mark } from "../../../src/postgres/volumes/marks.ts";
import type { Volume } from "../../../src/postgres/volumes/volume.ts";
import { Volumes } from "../../../src/postgres/volumes/volumes.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { DiskModel, type Draw, readRecording } from "./disk-image.ts";
import { armFailure, control, startRecording } from "./shim-control.ts";

/** Result of one seed. */
export type VolumeStormReport = {
  readonly seed: number;
  readonly steps: number;
  /** Steps that ended with an error. */
  readonly failed: number;
  readonly failures: number;
  readonly powerCuts: number;
};

/** Content of a volume that a world relies on. */
type VolumeState = {
  readonly origin: string | undefined;
  readonly base: string;
  /** The earliest position that the base can be replayed to. */
  readonly lsn: string | undefined;
  readonly marks: readonly Mark[];
  /** May be true although it was set to false: then the next start looks for the end of the log. */
  readonly mayBeClosed: boolean;
};

/** The states that a volume may have; "any": no world refers to it any more, or not yet. */
type Allowed = readonly [VolumeState, ...VolumeState[]] | "any";
/** Allowed contents by volume id, at a marker of the recording. */
type Ledger = ReadonlyMap<string, Allowed>;

const STEPS = 16;
const POWER_CUTS = 6;
const HISTORIES = ["history-1", "history-2"] as const;
/** The files of a cluster: so few that a seed takes milliseconds. */
const CLUSTER_FILES: Readonly<Record<string, string>> = {
  PG_VERSION: "18\n",
  "base/1/112": "rows of a table".repeat(700),
  "base/1/113": "rows of an index".repeat(40),
  "global/pg_control": "control".repeat(70),
};

/**
 * Creates, marks, changes and removes volumes while calls of the storage fail, then cuts the power at random moments
 * and checks every disk that may be left. Throws at the first violation. Requires the shim.
 */
export async function runVolumeSeed(seed: number, scratch: string): Promise<VolumeStormReport> {
  const next = randomFrom(seed).stream("volumes", 1);
  const draw: Draw = (below) => (below <= 0 ? 0 : next() % below);
  const data = join(scratch, "volume-data");
  const log = join(scratch, "recording");
  rmSync(data, { recursive: true, force: true });
  writeCluster(templateIn(data));
  const disk = new DiskModel(data, draw);
  startRecording(log, data);
  const states: Ledger[] = [new Map()];
  let failed = 0;
  const work = new VolumeWork(data, draw, (state) => {
    control(`mark/${states.length}`);
    states.push(state);
  });
  try {
    const isFaulty = draw(4) > 0;
    for (let step = 0; step < STEPS; step += 1) {
      if (isFaulty && draw(3) === 0) armFailure(draw);
      if (!(await work.step())) failed += 1;
      if (draw(2) === 0) control("heal");
    }
    control("stop");
    checkVolumes(data, work.state, "after a kill");
  } finally {
    control("stop");
    control("heal");
  }
  const records = readRecording(log);
  const moments = new Set(Array.from({ length: POWER_CUTS }, () => draw(records.length + 1)));
  const image = join(scratch, "volume-image");
  let marker = 0;
  for (const [index, record] of [...records, undefined].entries()) {
    if (moments.has(index)) {
      disk.writeAfterPowerCut(image);
      checkVolumes(image, states[marker] ?? new Map(), `after a power cut at record ${index}`);
    }
    if (record?.kind === "marker") marker = record.number;
    else if (record !== undefined) disk.add(record);
  }
  const failures = records.filter(({ kind }) => kind === "failure").length;
  return { seed, steps: STEPS, failed, failures, powerCuts: moments.size };
}

/** Random work on volumes, and what was acknowledged of it. */
class VolumeWork {
  readonly #data: string;
  readonly #draw: Draw;
  readonly #onState: (state: Ledger) => void;
  readonly #volumes: Volumes;
  #state: Ledger = new Map();
  #position = 1;

  constructor(data: string, draw: Draw, onState: (state: Ledger) => void) {
    this.#data = data;
    this.#draw = draw;
    this.#onState = onState;
    this.#volumes = volumesIn(data);
  }

  get state(): Ledger {
    return this.#state;
  }

  /** Returns whether it was done. */
  async step(): Promise<boolean> {
    const kept = [...this.#state].filter(([, allowed]) => allowed !== "any").map(([id]) => id);
    const kind = this.#draw(10);
    const id = kept[this.#draw(kept.length)];
    try {
      if (id === undefined || kind < 2) await this.#create();
      else if (kind === 2) await this.#remove(id);
      else await this.#change(id, kind);
      return true;
    } catch {
      return false;
    }
  }

  async #create(): Promise<void> {
    const history = HISTORIES[this.#draw(HISTORIES.length)] as string;
    const ownBase = this.#draw(3) === 0;
    const created = ownBase
      ? await this.#volumes.createBase(history, (path) => copyCluster(templateIn(this.#data), path))
      : undefined;
    const base = created?.path ?? templateIn(this.#data);
    const origin = this.#draw(2) === 0 ? undefined : this.#nextPosition();
    const { volume, release } = await this.#volumes.create(history, "br-1", async ({ dataDirectory }) => {
      await copyCluster(base, dataDirectory);
      return { bases: [{ path: base }], origin };
    });
    this.#set(volume.id, [
      { origin, base: this.#relative(base), lsn: undefined, marks: [], mayBeClosed: true },
    ]);
    created?.release();
    release();
  }

  async #remove(id: string): Promise<void> {
    this.#set(id, "any");
    await this.#volumes.remove(id);
  }

  async #change(id: string, kind: number): Promise<void> {
    const volume = this.#volumes.volume(id);
    if (kind < 6) {
      const mark = { at: this.#position, lsn: this.#nextPosition() };
      await this.#begin(
        id,
        (state) => ({ ...state, marks: [...state.marks, mark] }),
        () => volume.marks.append(mark),
      );
    } else if (kind === 6) {
      const at = this.#draw(this.#position);
      await this.#begin(
        id,
        (state) => ({ ...state, marks: since(state.marks, at) }),
        () => volume.marks.deleteBefore(at),
      );
    } else if (kind === 7) {
      const lsn = this.#nextPosition();
      await this.#begin(
        id,
        (state) => ({ ...state, lsn }),
        () =>
          this.#volumes.setBases(
            id,
            volume.bases.map((base) => ({ ...base, lsn })),
          ),
      );
    } else {
      const isOpen = this.#draw(2) === 0;
      await this.#begin(
        id,
        (state) => ({ ...state, mayBeClosed: !isOpen }),
        () => volume.setOpen(isOpen),
      );
    }
  }

  /** Until it is done, and after an error, the volume may be as before or as after the change. */
  async #begin(id: string, change: (state: VolumeState) => VolumeState, work: () => void): Promise<void> {
    const before = this.#state.get(id);
    if (before === undefined || before === "any") return;
    const [first, ...others] = before.map(change);
    this.#set(id, [...before, first as VolumeState, ...others]);
    work();
    this.#set(id, [first as VolumeState, ...others]);
  }

  #set(id: string, allowed: Allowed): void {
    this.#state = new Map(this.#state).set(id, allowed);
    this.#onState(this.#state);
  }

  #nextPosition(): string {
    this.#position += 1;
    return `0/${(this.#position * 256).toString(16).toUpperCase()}`;
  }

  #relative(path: string): string {
    return path.slice(this.#data.length);
  }
}

/** The marks that tell something about an instant and later ones. */
function since(marks: readonly Mark[], at: number): readonly Mark[] {
  const first = marks.findLastIndex((mark) => mark.at <= at);
  return first <= 0 ? marks : marks.slice(first);
}

/** Throws unless each volume has an allowed state, its files and its base, and a later server would find it. */
function checkVolumes(data: string, ledger: Ledger, when: string): void {
  const volumes = volumesIn(data);
  const stored = new Set(volumes.stored());
  for (const [id, allowed] of ledger) {
    if (allowed === "any") continue;
    const problem = stored.has(id) ? problemOf(volumes, data, id, allowed) : "is missing";
    if (problem !== undefined) throw new Error(`${when}: volume ${id} ${problem}`);
  }
  // Others are removed because this server owns them.
  for (const history of HISTORIES)
    for (const name of directoriesIn(join(volumes.root, history)))
      if (!stored.has(`${history}/${name}`)) throw new Error(`${when}: ${history}/${name} has no owner`);
}

function problemOf(
  volumes: Volumes,
  data: string,
  id: string,
  allowed: readonly VolumeState[],
): string | undefined {
  const volume: Volume = volumes.volume(id);
  const [base] = volume.bases;
  const observed = {
    origin: volume.origin,
    base: (base?.path ?? "").slice(data.length),
    lsn: base?.lsn,
    marks: volume.marks.all(),
  };
  const found = allowed.some(
    ({ mayBeClosed, ...state }) =>
      JSON.stringify(state) === JSON.stringify(observed) && (mayBeClosed || volume.isOpen()),
  );
  if (!found)
    return `is ${JSON.stringify({ ...observed, isOpen: volume.isOpen() })}; allowed were ${JSON.stringify(allowed)}`;
  if (!existsSync(volume.logDirectory)) return "has no directory for its log";
  for (const [file, content] of Object.entries(CLUSTER_FILES))
    for (const cluster of [volume.dataDirectory, base?.path ?? ""])
      if (!existsSync(join(cluster, file)) || readFileSync(join(cluster, file), "utf8") !== content)
        return `has another ${file} in ${cluster.slice(data.length)}`;
  return undefined;
}

function volumesIn(data: string): Volumes {
  return new Volumes(join(data, "volumes"), data);
}

function templateIn(data: string): string {
  return join(data, "templates", "18");
}

function writeCluster(path: string): void {
  for (const [file, content] of Object.entries(CLUSTER_FILES)) {
    mkdirSync(join(path, file, ".."), { recursive: true });
    writeFileSync(join(path, file), content);
  }
}

function copyCluster(base: string, to: string): Promise<void> {
  return copyWithLog({ base, to });
}

function directoriesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
