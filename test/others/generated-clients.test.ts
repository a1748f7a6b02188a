import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { raw } from "@neon/sdk";
import { describe, expect, test } from "vitest";
import { createScene, type Scene, UNKNOWN_IDS } from "../support/document/contract-scene.ts";
import { EXAMPLES } from "../support/document/operation-examples.ts";
import { loadPublicDocument } from "../support/document/public-document.ts";
import { API_KEY } from "../support/double/double.ts";
import { expectRow } from "../support/others/client-table.ts";
import { type JudgedCall, JudgingProxy } from "../support/others/judging-proxy.ts";
import { argumentsFor, type CallInput } from "../support/others/named-arguments.ts";

// Clients that are generated from documents of other years. Each of their functions is called with every
// example of its operation, and with ids that do not exist.

const require = createRequire(import.meta.url);
const document = loadPublicDocument();
const TIMEOUT_MS = 900_000;

/** Their bodies are forms with files; test/contract/clients/api-client-functions.test.ts sends them. */
const WITH_FILES: readonly string[] = ["createProjectBranchFunctionDeployment"];

type Called = (...args: never[]) => Promise<unknown>;
/** Undefined if the release has no parameter for a part of the input. */
type Call = (input: CallInput) => Promise<unknown> | undefined;
/** By the id of the operation in small letters: releases write `getConnectionUri` and `getConnectionURI`. */
type Calls = ReadonlyMap<string, Call>;
type GeneratedClient = { readonly name: string; readonly version: string; callsOf(url: string): Calls };

// biome-ignore lint/suspicious/noExplicitAny: each release has its own types
type Loaded = any;

function apiClient(packageName: string, load: () => Loaded): GeneratedClient {
  return {
    name: "@neondatabase/api-client",
    version: versionOf(packageName),
    callsOf(url) {
      const client = load().createApiClient({ apiKey: API_KEY, baseURL: url, proxy: false });
      return new Map(
        functionsOf(client).map(([name, called]) => [name.toLowerCase(), byName(called, client)]),
      );
    },
  };
}

const neonSdk: GeneratedClient = {
  name: "neon-sdk",
  version: versionOf("neon-sdk"),
  callsOf(url) {
    const { NeonClient } = require("neon-sdk");
    const services: object[] = Object.values(new NeonClient({ BASE: url, TOKEN: API_KEY }));
    return new Map(
      services.flatMap((service) =>
        functionsOf(Object.getPrototypeOf(service)).map(([name, called]) => [
          name.toLowerCase(),
          byName(called, service),
        ]),
      ),
    );
  },
};

const sdk: GeneratedClient = {
  name: "@neon/sdk",
  version: versionOf("@neon/sdk"),
  callsOf: (baseUrl) =>
    new Map(
      functionsOf(raw).map(([name, called]) => [
        name.toLowerCase(),
        ({ path, query, body }) =>
          called({ baseUrl, auth: API_KEY, path, query: Object.fromEntries(query), body } as never),
      ]),
    ),
};

function functionsOf(owner: object): (readonly [string, Called])[] {
  return Object.getOwnPropertyNames(owner).flatMap((name) => {
    const value = (owner as Record<string, unknown>)[name];
    return typeof value === "function" ? [[name, value as Called] as const] : [];
  });
}

function byName(called: Called, owner: object): Call {
  return (input) => {
    const args = argumentsFor(called, input);
    return args === undefined ? undefined : called.apply(owner, args as never[]);
  };
}

function versionOf(packageName: string): string {
  const file = join(import.meta.dirname, "../../node_modules", packageName, "package.json");
  return JSON.parse(readFileSync(file, "utf8")).version;
}

const CLIENTS: readonly GeneratedClient[] = [
  apiClient("api-client-1.1", () => require("api-client-1.1")),
  apiClient("api-client-1.13", () => require("api-client-1.13")),
  apiClient("api-client-2.0", () => require("api-client-2.0")),
  apiClient("@neondatabase/api-client", () => require("@neondatabase/api-client")),
  neonSdk,
  sdk,
];

describe.each(CLIENTS)("$name $version", (client) => {
  test(
    "gets answers that fit the newest document, for all of its functions",
    async () => {
      let scene = await createScene();
      const proxy = await JudgingProxy.inFrontOf((request) => scene.double.fetch(request));
      const callOf = client.callsOf(proxy.url);
      const calls: JudgedCall[] = [];
      const unexpected: string[] = [];
      let ran = 0;
      /** Calls the API with an example in a scene of its own. */
      const run = async (call: Call, input: (scene: Scene) => CallInput, example?: Example) => {
        scene = await createScene();
        await example?.before?.(scene);
        await call(input(scene))?.catch(() => undefined);
        await scene.double.close();
        const answered = proxy.take();
        calls.push(...answered);
        return answered;
      };
      for (const { operationId, path } of document.operations) {
        const call = callOf.get(operationId.toLowerCase());
        const examples = EXAMPLES[operationId];
        if (call === undefined || examples === undefined || WITH_FILES.includes(operationId)) continue;
        ran += 1;
        for (const example of examples) {
          const answered = await run(call, (made) => inputOf(made, path, example), example);
          unexpected.push(...answered.filter(({ verdict }) => verdict === "refused").map(titleOf));
        }
        if (path.includes("{"))
          await run(call, (made) => ({
            ...inputOf(made, path, examples[0]),
            path: idsOf(path, UNKNOWN_IDS),
          }));
      }
      await proxy.close();
      expect(unexpected).toEqual([]);
      expectRow(client.name, client.version, ran, calls);
    },
    TIMEOUT_MS,
  );
});

type Example = (typeof EXAMPLES)[string][number];

function inputOf(scene: Scene, path: string, example: Example | undefined): CallInput {
  const body = example?.body?.(scene);
  return {
    path: idsOf(path, { ...scene.ids, ...example?.ids?.(scene) }),
    query: new URLSearchParams(example?.query?.(scene).slice(1)),
    ...(body === undefined ? {} : { body }),
  };
}

function idsOf(path: string, ids: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, ids[name] ?? ""]));
}

function titleOf({ operation, status }: JudgedCall): string {
  return `${operation}: ${status}`;
}
