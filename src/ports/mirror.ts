import type { Satellite } from "./satellite.ts";
import type { ControlApi, PublicResponse, ServerApi } from "./server-api.ts";

/** Capabilities of the simulated platform and of seed files. */
export type PlatformFacts = {
  /** The ids of its regions. */
  readonly regions: readonly string[];
  /** Versions of Postgres. */
  readonly pgVersions: { readonly lowest: number; readonly highest: number };
  /** The published numbers of each date, oldest first. */
  readonly profiles: readonly {
    readonly name: string;
    readonly highestPgVersion: number;
    hasSize(minCu: number, maxCu: number): boolean;
  }[];
  /** The autosuspend delays of the newest profile. */
  readonly suspendTimeout: { readonly minimumS: number; readonly maximumS: number };
  /** The settings of a compute by their names in the API, without those that belong to the other server. */
  readonly computeSettings: readonly {
    readonly name: string;
    readonly kind: "flag" | "text";
    readonly default: unknown;
  }[];
  /** The settings of a new project. */
  readonly projectSettings: Readonly<Record<string, unknown>>;
};

/** Changes in the projects of a server, each after the operations of the one before it. */
export interface ProjectChanges {
  /** One change in a project. Waits for the operations before and after it. */
  change(project: string, method: string, path: string, body?: unknown): Promise<PublicResponse>;
  /** Returns rejections as answers. Rejects if the whole run cannot succeed: no access, rate limit, server error. */
  send(method: string, path: string, body?: unknown): Promise<PublicResponse>;
  /** Waits for the operations of a project. Advances a manual clock itself. */
  waitForOperations(path: string): Promise<void>;
}

export type ReportProgress = (done: number, of: number) => Promise<void>;

/** Functions that the core offers to both commands. */
export interface MirrorHost {
  /** The body of a success. Throws a `UserError` for any other answer. */
  bodyOf(api: ServerApi, path: string, response: PublicResponse): unknown;
  /** All pages of a list. */
  listAll(api: ServerApi, path: string, listKey: string): Promise<readonly unknown[]>;
  /** The projects of the account: of all its organizations, if the server requires an organization. */
  listProjects(api: ServerApi): Promise<readonly unknown[]>;
  projectChanges(api: ServerApi, control: ControlApi): ProjectChanges;
  readonly platform: PlatformFacts;
  /** Why the text is not a seed file. */
  seedFileProblem(text: string): string | undefined;
  /** Writes a file as a whole; `-` is stdout. */
  writeFile(path: string, text: string): void;
  /** The path of an operation of the public document, with placeholders. */
  pathOf(operationId: string): string | undefined;
  withProgress<T>(work: string, use: (report: ReportProgress) => Promise<T>): Promise<T>;
  /** Such as `1 call` and `1,200 calls`. */
  plural(count: number, noun: string): string;
}

/** A server of ours, and its API with the key of the user or a temporary one. */
export type OwnServer = {
  readonly apiUrl: string;
  readonly control: ControlApi;
  withApi<T>(use: (api: ServerApi) => Promise<T>): Promise<T>;
};

export type MirrorRequest = {
  readonly from: ServerApi;
  /** The seed file to write; `-` is stdout. */
  readonly out?: string | undefined;
  /** Reads and reports, and changes nothing. */
  readonly isDryRun: boolean;
  /** The server to copy to. */
  readonly server?: OwnServer | undefined;
};

export type DriftRequest = {
  /** Rejects if no server is running. */
  readonly openServer: () => Promise<OwnServer>;
  readonly against: ServerApi;
  /** The lines of a file with calls, and its name. */
  readonly list?: { readonly text: string; readonly file: string } | undefined;
  /** Compares the calls of the request log. */
  readonly isRecorded: boolean;
  /** Number of projects to read on each side. */
  readonly projects: number;
};

/** Output of a command. */
export type PrintedResult = { readonly json: unknown; readonly text: string };

/** `@standin/mirror`. Rejections are errors for the user. */
export type MirrorSatellite = Satellite & {
  /** Copies the inventory of an account to a server or to a seed file. */
  mirror(host: MirrorHost, request: MirrorRequest, signal: AbortSignal): Promise<PrintedResult>;
  /** Compares the answers of two servers. */
  drift(host: MirrorHost, request: DriftRequest): Promise<PrintedResult & { readonly isDifferent: boolean }>;
};
