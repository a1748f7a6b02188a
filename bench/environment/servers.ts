import type { BareAnswer } from "../processes/bare-server.ts";
import type { DoubleServerOptions } from "../processes/double-server.ts";
import type { Sample } from "../processes/probe.ts";
import type { Child } from "./child.ts";
import { type BenchEnvironment, COMMAND, MIGRATIONS } from "./environment.ts";

const API_KEY = "bench".padEnd(64, "0");
export const AUTHORIZATION = { Authorization: `Bearer ${API_KEY}` };

/** A server in a process of its own. */
export type Server = {
  readonly port: number;
  readonly child: Child;
  /** What it says of itself; `collect` makes it collect its garbage before. */
  sample(collect?: boolean): Promise<Sample>;
};

/** `standin serve` as it is bundled, with a probe that answers questions about its memory and time. */
export async function startCommand(
  environment: BenchEnvironment,
  data: string,
  nodeOptions: readonly string[] = [],
): Promise<Server> {
  const args = ["serve", "--data", data, "--port", "0", "--operations", "immediate", "--json"];
  const probe = ["--import", environment.script("probe")];
  const env = { STANDIN_API_KEY: API_KEY };
  const child = await environment.start<{ api_url: string }>([...nodeOptions, ...probe, COMMAND, ...args], {
    env,
  });
  return serverOf(child, Number(new URL(child.ready.api_url).port));
}

export async function startDouble(
  environment: BenchEnvironment,
  kind: "sqlite" | "none",
  oneByOne = false,
): Promise<Server> {
  const journal =
    kind === "none" ? { kind } : { kind, data: environment.directory(), migrations: MIGRATIONS };
  const options: DoubleServerOptions = { journal, oneByOne, apiKey: API_KEY };
  return startProcess(environment, "double-server", options);
}

/** Bare `node:http` that answers with these bytes. */
export async function startBare(environment: BenchEnvironment, answer: BareAnswer): Promise<Server> {
  return startProcess(environment, "bare-server", answer);
}

async function startProcess(environment: BenchEnvironment, name: string, input: unknown): Promise<Server> {
  const child = await environment.start<{ port: number }>([environment.script(name), JSON.stringify(input)]);
  return serverOf(child, child.ready.port);
}

function serverOf(child: Child, port: number): Server {
  return { port, child, sample: (collect = false) => child.ask<Sample>("sample", { collect }) };
}
