import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { differencesOf, type JudgedCall, judge } from "../../recorded-answers/judge.ts";
import { RECORDINGS, sourceOf } from "../../recorded-answers/recordings.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";

const document = loadPublicDocument();
const CALLS = RECORDINGS.flatMap(({ calls }) => calls).length;

type Exception = { readonly reason: string; readonly differences: readonly string[] };
type Exceptions = Readonly<Record<string, Exception>>;

/** What differs from the recordings on purpose, by call. */
const ALWAYS: Exceptions = {
  "GET /users/me 200": {
    reason: "the billing service, and so its portal, is not imitated",
    differences: ["billing_account.orb_portal_url: absent"],
  },
};
const CONTRADICTED_BY_THE_REFERENCE: Exceptions = {
  "GET /projects/{project_id}/endpoints 200": {
    reason: "the reference: pending_state is absent in lists, and last_active before the first activity",
    differences: ["endpoints[].pending_state: absent", "endpoints[].last_active: absent"],
  },
  "GET /projects/{project_id}/endpoints/{endpoint_id} 200": {
    reason: "the reference: last_active is absent before the first activity",
    differences: ["endpoint.last_active: absent"],
  },
};
const UNLIKE_2024: Exceptions = {
  "POST /api_keys 200": {
    reason:
      "the reference has a number with the length of a secret, 64; the recorded ones have 80 characters",
    differences: [expect.stringMatching(/^key: "[A-Za-z0-9]{64}"$/)],
  },
  "POST /projects 400": {
    reason: "every error names its request, as later documents describe",
    differences: ["request_id: not in the recorded answer"],
  },
};
const BY_DEFAULT = { ...ALWAYS, ...CONTRADICTED_BY_THE_REFERENCE, ...UNLIKE_2024 };

/**
 * Fields of answers that no recording has at their place, by where they come from. With recorded answers, only those of
 * the document of that year are there. A part in brackets stands for both names.
 */
const UNRECORDED = {
  "the reference": ["projects[].locked", "(endpoints[]|endpoint).settings.pg_settings"],
  "the document of December 2024": [
    "(projects[]|project).org_id",
    "projects[].settings.allowed_ips.ips",
    "(projects[]|project).settings.allowed_ips.protected_branches_only",
    "project.synthetic_storage_size",
    "project.compute_last_active_at",
    "projects[].compute_last_active_at",
    "applications",
    "integrations",
    "(branches[]|branch).default",
    "(branches[]|branch).protected",
    "(branches[]|branch).logical_size",
    "annotations",
    "pagination.sort_by",
    "pagination.sort_order",
    "pagination.next",
    "billing_account.payment_method",
    "billing_account.name",
  ],
  "later documents": [
    "projects[].history_retention_seconds",
    "(projects[]|project).settings.maintenance_window.weekdays[]",
    "(projects[]|project).settings.maintenance_window.start_time",
    "(projects[]|project).settings.maintenance_window.end_time",
    "(projects[]|project).settings.block_public_connections",
    "(projects[]|project).settings.block_vpc_connections",
    "(projects[]|project).settings.hipaa",
    "project.owner.name",
    "(branches[]|branch).state_changed_at",
    "(branches[]|branch).created_by.name",
    "(branches[]|branch).created_by.image",
    "(branches[]|branch).init_source",
    "(roles[]|role).authentication_method",
    "billing_account.state",
    "created_at",
    "created_by",
    "[].created_by.id",
    "[].created_by.name",
    "[].created_by.image",
    "request_id",
  ],
};

/** What the newest document requires and that of December 2024 lacks. */
const REQUIRED_LATER =
  /required property '(created_by|created_at|name|state|state_changed_at)'$|\/request_id must be/;

const nameOf = ({ call: { method, path, status } }: JudgedCall) => `${method} ${path} ${status}`;
const isComplete = ({ differences }: JudgedCall) => differences.length === 0;

describe.each([
  ["reference", BY_DEFAULT, 46, Object.values(UNRECORDED).flat()],
  ["recorded", ALWAYS, 51, UNRECORDED["the document of December 2024"]],
] as const)("in profile 2024 with answers as %s", (answers, exceptions: Exceptions, complete, unrecorded) => {
  let judged: JudgedCall[] = [];
  beforeAll(async () => {
    for (const recording of RECORDINGS)
      judged.push(...(await judge(recording, { profile: "2024", answers })));
    return () => {
      judged = [];
    };
  }, 60_000);

  test("every answer has the recorded fields in their formats, with the stated exceptions", () => {
    const found = judged
      .filter((call) => !isComplete(call))
      .map((call) => ({
        call: nameOf(call),
        differences: call.differences,
        source: sourceOf(call.recording),
      }));
    const expected = found.map(({ call, source }) => ({
      call,
      differences: exceptions[call]?.differences,
      source,
    }));
    expect(found).toEqual(expected);
    expect([...new Set(found.map(({ call }) => call))].sort()).toEqual(Object.keys(exceptions).sort());
  });

  test(`${complete} of ${CALLS} answers are complete, and the reference page says so`, () => {
    expect(judged.filter(isComplete)).toHaveLength(complete);
    const rows = readFileSync("docs/reference/platform-api.md", "utf8")
      .split("\n")
      .filter((line) => line.startsWith(`| \`${answers}\` |`));
    expect(rows).toEqual([expect.stringContaining(`| ${complete} of ${CALLS} |`)]);
  });

  test("no answer has a field that neither a recording nor a document has", () => {
    const faults = judged.flatMap(({ call, status, body }) =>
      document.answerFaults(call.operationId, status, body).map((fault) => `${call.operationId}: ${fault}`),
    );
    expect(faults.filter((fault) => answers === "reference" || !REQUIRED_LATER.test(fault))).toEqual([]);
    const known = unrecorded.flatMap(bothNames);
    expect([...new Set(judged.flatMap(({ unrecorded }) => unrecorded))].sort()).toEqual([...known].sort());
  });
});

/** `(a|b).c` is `a.c` and `b.c`. */
function bothNames(field: string): string[] {
  const [, names = "", rest = ""] = /^\((.*)\)(.*)$/.exec(field) ?? [];
  return names === "" ? [field] : names.split("|").map((name) => `${name}${rest}`);
}

describe("the comparison reports", () => {
  const fields = { "branches[].id": "branch id", "branches[].name": "text" } as const;
  const branch = { id: "br-aged-fog-a5tggcga", name: "main" };
  const differences = (body: unknown, status = 200, absent: string[] = []) =>
    differencesOf({ status: 200, fields, absent }, { status, body });

  test.each([
    ["nothing, if all is as recorded", { branches: [branch, branch] }, []],
    [
      "a field that one of several objects lacks",
      { branches: [branch, { id: branch.id }] },
      ["branches[].name: absent"],
    ],
    ["another format", { branches: [{ ...branch, id: "br-1" }] }, ['branches[].id: "br-1"']],
    [
      "an empty list",
      { branches: [] },
      ["branches[].id: the list is empty", "branches[].name: the list is empty"],
    ],
    ["an answer without the list", {}, ["branches[].id: absent", "branches[].name: absent"]],
  ])("%s", (_, body, expected) => {
    expect(differences(body)).toEqual(expected);
  });

  test("another status, and a field that the recorded answer lacks", () => {
    expect(differences({}, 404)).toEqual(["status: 404 instead of 200"]);
    const withPassword = { branches: [{ ...branch, password: "secret" }] };
    expect(differences(withPassword, 200, ["branches[0].password"])).toEqual([
      "branches[0].password: not in the recorded answer",
    ]);
  });
});
