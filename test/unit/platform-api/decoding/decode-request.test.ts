import { describe, expect, test } from "vitest";
import { bodyFailure, queryFailure } from "../../../../src/platform-api/decoding/decode-request.ts";

// The words are those of the published sources of `ogen-go/ogen` and `go-faster/jx` (docs/evidence.md).
const JSON_PART = "decode application/json: ";

describe("a body of the wrong type", () => {
  test.each([
    [
      "createProject",
      '{"project":{"pg_version":"16"}}',
      `decode ProjectCreateRequest: callback: decode field "project": decode ProjectCreateRequestProject: callback: decode field "pg_version": alias: unexpected byte 34 '"' at 25`,
    ],
    [
      "createProject",
      '{"project":{"name":7}}',
      `decode ProjectCreateRequest: callback: decode field "project": decode ProjectCreateRequestProject: callback: decode field "name": unexpected byte 55 '7' at 19`,
    ],
    [
      "createProject",
      '{"project":[]}',
      `decode ProjectCreateRequest: callback: decode field "project": decode ProjectCreateRequestProject: "{" expected: unexpected byte 91 '[' at 11`,
    ],
    ["createProject", "null", `decode ProjectCreateRequest: "{" expected: unexpected byte 110 'n' at 0`],
    ["createProject", "{}", "invalid: project (field required)"],
    [
      "createProjectEndpoint",
      '{"endpoint":{}}',
      'decode EndpointCreateRequest: callback: decode field "endpoint": invalid: branch_id (field required), type (field required)',
    ],
    [
      "createProjectBranch",
      '{"endpoints":{"type":"read_write"}}',
      `decode CreateProjectBranchReq: callback: decode field "endpoints": "[" expected: unexpected byte 123 '{' at 13`,
    ],
    [
      "createProjectBranch",
      '{"endpoints":[{"type":"read_only"},{"autoscaling_limit_min_cu":"1"}]}',
      `decode CreateProjectBranchReq: callback: decode field "endpoints": callback: decode BranchCreateRequestEndpointOptions: callback: decode field "autoscaling_limit_min_cu": alias: unexpected byte 34 '"' at 63`,
    ],
    [
      "updateProjectBranch",
      '{"branch":{"protected":"yes"}}',
      `decode BranchUpdateRequest: callback: decode field "branch": decode BranchUpdateRequestBranch: callback: decode field "protected": unexpected byte 34 '"' at 23`,
    ],
    [
      "createProject",
      '{"project":{"history_retention_seconds":1.5}}',
      `decode ProjectCreateRequest: callback: decode field "project": decode ProjectCreateRequestProject: callback: decode field "history_retention_seconds": unexpected floating point character: unexpected byte 46 '.' at 41`,
    ],
    [
      "createProject",
      '{"project":{"history_retention_seconds":2147483648}}',
      'decode ProjectCreateRequest: callback: decode field "project": decode ProjectCreateRequestProject: callback: decode field "history_retention_seconds": value out of range',
    ],
  ])("%s %s", (operation, text, words) => {
    expect(bodyFailure(operation, text)).toBe(JSON_PART + words);
  });
});

test.each([
  ["tomorrow", 'parsing time "tomorrow" as "2006-01-02T15:04:05Z07:00": cannot parse "tomorrow" as "2006"'],
  ["2024-01-02", 'parsing time "2024-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
  ["2024-13-02T00:00:00Z", 'parsing time "2024-13-02T00:00:00Z": month out of range'],
  ["2023-02-29T00:00:00Z", 'parsing time "2023-02-29T00:00:00Z": day out of range'],
  [
    "2024-01-02T00:00:00",
    'parsing time "2024-01-02T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
  ],
])("the timestamp %s", (expires_at, words) => {
  const failure = bodyFailure("updateProjectBranch", JSON.stringify({ branch: { expires_at } }));
  expect(failure).toBe(
    `${JSON_PART}decode BranchUpdateRequest: callback: decode field "branch": decode BranchUpdateRequestBranch: callback: decode field "expires_at": ${words}`,
  );
});

describe("broken JSON", () => {
  const type = "decode ApiKeyCreateRequest: ";
  test.each([
    ["{", `${type}'"' or "}" expected: unexpected EOF`],
    ["{a:1}", `${type}field name: unexpected byte 97 'a' at 1`],
    ['{"key_name":"a",}', `${type}field name: unexpected byte 125 '}' at 16`],
    ['{"key_name" "a"}', `${type}":" expected: unexpected byte 34 '"' at 12`],
    ['{"key_name":"a" "b"}', `${type}"}" expected: unexpected byte 34 '"' at 16`],
    ['{"key_name":"a', `${type}callback: decode field "key_name": unexpected EOF`],
    ['{"key_name":"a\nb"}', `${type}callback: decode field "key_name": unexpected byte 10 '\\n' at 14`],
    [
      '{"key_name":"\\x"}',
      `${type}callback: decode field "key_name": escape: bad escape: unexpected byte 120 'x' at 14`,
    ],
    ['{"other":[1,]}', `${type}callback: array: unexpected byte 93 ']' at 12`],
    ['{"other":{"a":tru}}', `${type}callback: object: unexpected byte 125 '}' at 17`],
    ['{"other":01}', `${type}callback: unexpected byte 49 '1' at 10`],
    ['{"key_name":"a"} x', "unexpected trailing data"],
    ["not json", `${type}"{" expected: unexpected byte 110 'n' at 0`],
  ])("%s", (text, words) => {
    expect(bodyFailure("createApiKey", text)).toBe(JSON_PART + words);
  });
});

test.each([
  ["createApiKey", '{"key_name":"a","other":{"b":[1,-2.5e3,true,null,"\\u0041"]}} '],
  ["updateProjectBranch", '{"branch":{"expires_at":null}}'],
  ["updateProjectBranch", '{"branch":{"expires_at":"2024-02-29T23:59:59.123+02:00"}}'],
  ["createProject", '{ "project" : { "pg_version" : 16 , "store_passwords" : false } }'],
  ["createProjectBranch", ""],
  ["noSuchOperation", "{"],
])("%s decodes %s", (operation, text) => {
  expect(bodyFailure(operation, text)).toBeUndefined();
});

test("a body that must be there", () => {
  expect(bodyFailure("createProject", "")).toBe("body required");
});

test.each([
  ["listProjects", "limit=abc", '"limit": strconv.Atoi: parsing "abc": invalid syntax'],
  ["listProjects", "limit=0", '"limit": int: value 0 less than 1'],
  ["listProjects", "limit=401", '"limit": int: value 401 greater than 400'],
  ["listProjects", "recoverable=yes", '"recoverable": strconv.ParseBool: parsing "yes": invalid syntax'],
  ["getConnectionURI", "role_name=a", '"database_name": field required'],
  ["listProjectBranches", "sort_by=size", '"sort_by": invalid value: size'],
])("%s?%s", (operation, query, words) => {
  expect(queryFailure(operation, new URLSearchParams(query))).toBe(`query: ${words}`);
});
