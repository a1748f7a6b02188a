import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { type BundleFunction, callBundle, evaluateScript } from "../compiled-code/evaluate-script.ts";

/** The file of the bundled simulator, next to this one. */
declare const SIMULATOR_FILE: string;

type Simulator = typeof import("./simulator.ts");

/**
 * The exports of the simulator. Test runners such as Jest evaluate modules in a context with globals of its own. There, a
 * script would have the `Error` of another context, so the runner loads the bundle.
 */
export function loadSimulator(): Simulator {
  const filename = fileURLToPath(new URL(SIMULATOR_FILE, import.meta.url));
  const isMainContext = new Script("globalThis").runInThisContext() === globalThis;
  const exports = isMainContext
    ? evaluateScript(filename, { part: "library", stores: true })
    : callBundle(createRequire(import.meta.url)(filename) as BundleFunction, filename);
  return exports as Simulator;
}
