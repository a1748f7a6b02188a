import type { BareAnswer } from "../processes/bare-server.ts";
import type { DoubleServerOptions } from "../processes/double-server.ts";
import type { Sample } from "../processes/probe.ts";
import type { Child } from "./child.ts";
import { COMMAND, MIGRATIONS, type Stage } from "./stage.ts";

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
export async function startCommand(stage: Stage, data: string, nodeOptions: readonly string[] = []): Promise<Server> {
  const args = ["serve", "--data", data, "--port", "0", "--operations", "immediate", "--json"];
  const probe = ["--import", stage.script("probe")];
  const env = { STANDIN_API_KEY: API_KEY };
  const child = await stage.start<{ api_url: string }>([...nodeOptions, ...probe, COMMAND, ...args], { env });
  return serverOf(child, Number(new URL(child.ready.api_url).port));
}

export async function startDouble(stage: Stage, kind: "sqlite" | "none", oneByOne = false): Promise<Server> {
  const journal = kind === "none" ? { kind } : { kind, data: stage.directory(), migrations: MIGRATIONS };
  const options: DoubleServerOptions = { journal, oneByOne, apiKey: API_KEY };
  return startOwn(stage, "double-server", options);
}

/** Bare `node:http` that answers with these bytes. */
export async function startBare(stage: Stage, answer: BareAnswer): Promise<Server> {
  return startOwn(stage, "bare-server", answer);
}

async function startOwn(stage: Stage, name: string, input: unknown): Promise<Server> {
  const child = await stage.start<{ port: number }>([stage.script(name), JSON.stringify(input)]);
  return serverOf(child, child.ready.port);
}

function serverOf(child: Child, port: number): Server {
  return { port, child, sample: (collect = false) => child.ask<Sample>("sample", { collect }) };
}
