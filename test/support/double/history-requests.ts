import { expect, onTestFinished } from "vitest";
import type { ApiResponse } from "../answers/api-response.ts";
import { createProject, type Double, type DoubleOptions } from "./double.ts";
import {
  createStorageDouble,
  doubleOfWorld,
  type StorageDouble,
  type StorageKind,
} from "./storage-double.ts";

/** A double with its storage, in memory or in files, that is closed with the test. */
export async function createTestDouble(
  kind: StorageKind,
  options: DoubleOptions = {},
): Promise<StorageDouble> {
  const storageDouble = await createStorageDouble(kind, options);
  onTestFinished(() => storageDouble.end());
  return storageDouble;
}

/** One call by its full path, with the given headers only. */
export async function callPath(
  { fetch }: Pick<Double, "fetch">,
  method: string,
  path: string,
  {
    headers = {},
    body,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown } = {},
): Promise<ApiResponse> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await fetch(
    new Request(`http://localhost${path}`, { method, headers: { ...type, ...headers }, ...init }),
  );
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** The names of all worlds. */
export async function worldNames({ sim }: Pick<Double, "sim">): Promise<string[]> {
  return (await sim("GET", "/worlds")).body.worlds.map(({ name }: { name: string }) => name);
}

/** State that a rejected request must not change: the list of worlds, and this world with its snapshots. */
export async function fullState({ sim }: Pick<Double, "sim">): Promise<unknown> {
  const paths = ["/worlds", "/snapshots", "/state", "/clock"];
  return Promise.all(paths.map(async (path) => (await sim("GET", path)).body));
}

/** A world whose next advance by 60 days is more work than fits into one portion. */
export async function createBusyWorld(
  double: Double,
): Promise<{ readonly endpointId: string; readonly projectId: string }> {
  const { endpointId, projectId } = await createProject(double);
  const at = (index: number) => new Date(Date.parse("2026-01-01T01:00:00Z") + index * 600_000).toISOString();
  const activities = Array.from({ length: 3_000 }, (_, index) => ({
    endpoint_id: endpointId,
    at: at(index),
  }));
  const { status } = await double.sim("POST", "/activity", activities);
  if (status !== 200) throw new Error(`POST /_sim/activity: ${status}`);
  return { endpointId, projectId };
}

export const requestFork = ({ sim }: Pick<Double, "sim">, body: unknown) => sim("POST", "/worlds", body);

/**
 * Forks a world of this double, by default its own. The result is a view of the fork as if it were the only
 * world.
 */
export async function forkWorld(
  double: Double,
  body: { readonly name: string } & Readonly<Record<string, unknown>>,
  origin = double,
): Promise<Double> {
  const { status, body: response } = await requestFork(origin, body);
  expect({ status, answer: response }).toMatchObject({ status: 201 });
  return doubleOfWorld(double, body.name);
}

export const clockOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/clock")).body;

/** The whole world as text at a point of its history. */
export async function stateAt({ sim }: Pick<Double, "sim">, at: string | number): Promise<string> {
  const { status, body } = await sim("GET", `/state?at=${encodeURIComponent(at)}`);
  if (status !== 200) throw new Error(`GET /_sim/state?at=${at}: ${status} ${JSON.stringify(body)}`);
  return JSON.stringify(body);
}
