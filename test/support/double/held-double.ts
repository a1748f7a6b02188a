import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { temporaryDirectory } from "../process/process.ts";
import { holdSyncs } from "../store/held-syncs.ts";
import { createDouble, type DoubleOptions } from "./double.ts";

/** A world in a file whose syncs the test ends. */
export async function createHeld(options: DoubleOptions = {}) {
  const { path, remove } = temporaryDirectory();
  const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
  const double = await createDouble({ storage, ...options });
  const syncs = holdSyncs();
  onTestFinished(async () => {
    syncs.failsAtOnce = false;
    await double.close();
    storage.release();
    remove();
  });
  const createKey = (name: string) => double.api("POST", "/api_keys", { key_name: name });
  const keyNames = async () => {
    const { body } = await double.api("GET", "/api_keys");
    return (body as unknown as { name: string }[]).map(({ name }) => name);
  };
  /** Whether it is answered while no sync ends. */
  const isAnswered = async (answer: Promise<unknown>) => {
    let answered = false;
    void answer.then(() => {
      answered = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    return answered;
  };
  const durably = async <T>(answer: Promise<T>) => {
    while (!(await isAnswered(answer))) syncs.end();
    return answer;
  };
  return { double, syncs, createKey, keyNames, isAnswered, durably };
}
