import { writeTraffic } from "../../src/cli/whatif/trace-files.ts";
import { type FleetShape, poissonTraffic } from "../whatif/fleet.ts";

/** Writes Poisson arrivals as CSV or `.standin-trace`, depending on the extension of `path`. */
export type WhatifTraceOptions = FleetShape & { readonly path: string };

const { path, ...shape } = JSON.parse(process.argv[2] ?? "") as WhatifTraceOptions;
const { requests } = await writeTraffic(
  poissonTraffic(shape),
  path,
  "poisson fleet",
  new AbortController().signal,
);
process.stdout.write(`${JSON.stringify(requests)}\n`);
