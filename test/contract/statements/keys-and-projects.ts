import {
  behaviour,
  COMPUTE_ANSWERS,
  KEY_ANSWERS,
  MODEL,
  PROJECT_ANSWERS,
  property,
  rule,
  type Section,
  UNAUTHORIZED,
} from "./statement.ts";

const REPLACED = "scenarios/keys-are-replaced.yaml";
const REVOKED = "scenarios/key-revoked-in-mid-traffic.yaml";

export const KEYS = {
  title: "API keys",
  scenarios: "some",
  statements: [
    {
      id: "key-create",
      statement: "Creating a key with a name answers with its id and its secret.",
      evidence: "R",
      scenario: REPLACED,
      tests: [KEY_ANSWERS, rule("account/api-key", "a new API key is recorded with the hash of its secret")],
    },
    {
      id: "key-name-required",
      statement: "A new key needs a name.",
      evidence: "R",
      tests: [property("reference-answers", "a key without a name is not created")],
    },
    {
      id: "key-id",
      statement: "The id of a key is an integer.",
      evidence: "R",
      tests: [KEY_ANSWERS],
    },
    {
      id: "key-secret-once",
      statement: "The secret of a key is only in the answer to its creation.",
      evidence: "R",
      tests: [
        KEY_ANSWERS,
        behaviour("account/api-keys", "the secret of a key is shown only at its creation"),
      ],
      plantedBug: "secret-in-the-list",
    },
    {
      id: "key-secret-random",
      statement: "Each key has a different secret.",
      evidence: "R",
      tests: [
        KEY_ANSWERS,
        rule(
          "account/api-key",
          "creating a second API key with the same secret is refused, even after the first was revoked",
        ),
      ],
    },
    {
      id: "key-list",
      statement: "The list of keys is an array and takes no parameters.",
      evidence: "R",
      tests: [
        KEY_ANSWERS,
        behaviour("http/paging", "the list of API keys takes no parameters and is one array"),
      ],
    },
    {
      id: "key-name",
      statement: "Lists and revocations have the name of the key.",
      evidence: "R",
      scenario: REPLACED,
      tests: [KEY_ANSWERS],
    },
    {
      id: "key-created-at",
      statement: "Lists have the creation time of each key.",
      evidence: "R",
      tests: [KEY_ANSWERS],
    },
    {
      id: "key-last-used-at",
      statement: "Lists and revocations have the time of the last use of the key.",
      evidence: "R",
      scenario: REPLACED,
      tests: [
        KEY_ANSWERS,
        behaviour("account/api-keys", "the last use of each key is an instant of the world's clock"),
      ],
    },
    {
      id: "key-last-used-from",
      statement: "Lists and revocations have the network address of the last use of the key.",
      evidence: "R",
      tests: [KEY_ANSWERS],
    },
    {
      id: "key-revoke",
      statement: "A revocation answers with the key, and with revoked set to true.",
      evidence: "R",
      scenario: REPLACED,
      tests: [KEY_ANSWERS, MODEL],
    },
    {
      id: "key-revoke-immediate",
      statement: "A revocation is immediate: the next request with the key fails.",
      evidence: "R",
      scenario: REVOKED,
      tests: [MODEL, rule("account/api-key", "an account revokes its API key")],
      plantedBug: "revoked-key-stays-valid",
    },
    {
      id: "key-revoke-final",
      statement: "A revoked key cannot be revoked again.",
      evidence: "R, A",
      scenario: REPLACED,
      tests: [rule("account/api-key", "revoking an unknown or a revoked API key is refused")],
      plantedBug: "revocation-is-repeated",
    },
    {
      id: "key-revoke-irreversible",
      statement: "A revoked secret never becomes valid again.",
      evidence: "R",
      tests: [
        rule(
          "account/api-key",
          "of a removed API key the first 128 bits of its hash stay: its secret is refused for good",
        ),
      ],
      plantedBug: "secret-is-used-again",
    },
    {
      id: "key-valid-until-revoked",
      statement: "A key does not expire.",
      evidence: "R",
      scenario: REPLACED,
      tests: [rule("account/api-key", "an API key is valid until it is revoked, however old it is")],
    },
    {
      id: "key-of-the-account",
      statement: "A key belongs to an account, not to a project, and works with all projects of the account.",
      evidence: "R",
      scenario: REPLACED,
      tests: [rule("account/access", "in a project, the caller %s may: %s")],
    },
    {
      id: "key-of-another-account",
      statement: "An account cannot revoke the keys of another account.",
      evidence: "R",
      scenario: REPLACED,
      tests: [rule("account/api-key", "revoking the API key of another account is refused")],
      plantedBug: "keys-of-everybody",
    },
    {
      id: "key-number",
      statement: "An account may have more than 10,000 keys.",
      evidence: "R",
      tests: [rule("account/api-key", "an account may have more than 10,000 API keys")],
    },
    {
      id: "key-replacement",
      statement: "To replace a lost key, a new key is created with a valid key, and the lost key is revoked.",
      evidence: "R",
      scenario: REPLACED,
      tests: [
        KEY_ANSWERS,
        rule(
          "account/api-key",
          "the valid keys of a person and of an organization are listed apart, oldest first",
        ),
      ],
    },
  ],
} satisfies Section;

export const AUTHENTICATION = {
  title: "Authentication, errors and versions",
  scenarios: "some",
  statements: [
    {
      id: "bearer",
      statement: "Each request sends its key in the header Authorization, with the scheme Bearer.",
      evidence: "R",
      tests: [UNAUTHORIZED],
      plantedBug: "any-scheme",
    },
    {
      id: "no-key",
      statement: "A request without the header Authorization fails with 401.",
      evidence: "R",
      tests: [UNAUTHORIZED],
    },
    {
      id: "invalid-key",
      statement: "A request with a key that was never issued fails with 401.",
      evidence: "R",
      scenario: REPLACED,
      tests: [UNAUTHORIZED],
    },
    {
      id: "revoked-key",
      statement: "A request with a revoked key fails with 401.",
      evidence: "R",
      scenario: REVOKED,
      tests: [UNAUTHORIZED, MODEL],
    },
    {
      id: "unauthorized-changes-nothing",
      statement: "A request that fails with 401 changes nothing.",
      evidence: "R",
      tests: [UNAUTHORIZED],
    },
    {
      id: "json",
      statement: "Request and response bodies are JSON.",
      evidence: "R",
      tests: [COMPUTE_ANSWERS, behaviour("http/errors", "a body of %s is rejected with 400")],
    },
    {
      id: "timestamps",
      statement: "Timestamps are ISO 8601 in UTC.",
      evidence: "R",
      tests: [
        COMPUTE_ANSWERS,
        behaviour("http/formats", "timestamps are ISO 8601 in UTC with whole seconds, never rounded up"),
      ],
    },
    {
      id: "version",
      statement: "The version of the API is the path segment v2 at the end of the base URL.",
      evidence: "R",
      tests: [
        property("reference-answers", "the operations of the reference are at v2 and at no other version"),
      ],
    },
    {
      id: "error-body",
      statement: "The body of an error has request_id, code and message.",
      evidence: "S",
      scenario: "scenarios/second-primary-refused.yaml",
      tests: [
        COMPUTE_ANSWERS,
        behaviour("http/errors", "every error has request_id, code and message, with the id of the request"),
      ],
    },
    {
      id: "success-status",
      statement:
        "The creation of a compute answers with 201, and every other operation in this section with 200.",
      evidence: "S",
      scenario: "scenarios/life-of-a-compute.yaml",
      tests: [COMPUTE_ANSWERS, behaviour("http/errors", "success is 201 for creation and 200 otherwise")],
    },
    {
      id: "unknown-objects",
      statement: "A request for an object that does not exist, or of another account, fails with 404.",
      evidence: "S",
      scenario: REPLACED,
      tests: [behaviour("account/accounts", "another account cannot see any resource of the first one")],
    },
    {
      id: "rate-limits",
      statement: "There is no rate limit unless it is enabled.",
      evidence: "A",
      tests: [
        { file: "test/contract/refusals/boundary.test.ts", title: "without the flag there is no rate limit" },
      ],
    },
  ],
} satisfies Section;

const NEW_PROJECT = rule(
  "project/project",
  "a new project gets a default branch and a compute that starts after its branch",
);

export const PROJECTS = {
  title: "Projects and branches",
  scenarios: "some",
  statements: [
    {
      id: "project-list",
      statement: "The list of projects has the projects in the field projects.",
      evidence: "R",
      scenario: REPLACED,
      tests: [PROJECT_ANSWERS],
    },
    ...(
      [
        ["id", "an id, which is a string"],
        ["name", "a name"],
        ["platform_id", "the id of its cloud platform, which is a string"],
        ["region_id", "the id of its region, which is a string"],
        ["provisioner", "a provisioner, which is a string"],
        ["pg_version", "a major version of Postgres, which is an integer"],
        ["locked", "a flag locked, which is a boolean"],
        ["cpu_used_sec", "its CPU seconds, which are an integer"],
        ["branch_logical_size_limit", "the size limit of its branches, which is an integer"],
        ["proxy_host", "the host name of its proxy"],
        ["created_at", "its creation time"],
        ["updated_at", "the time of its last change"],
      ] as const
    ).map(([field, meaning]) => ({
      id: `project-${field.replaceAll("_", "-")}`,
      statement: `A project in the list has ${meaning} (\`${field}\`).`,
      evidence: "R" as const,
      tests: [PROJECT_ANSWERS] as const,
    })),
    {
      id: "project-paging",
      statement:
        "Projects come in pages of ten, oldest first, unless a limit is given; a cursor leads to the next page.",
      evidence: "S",
      tests: [
        behaviour(
          "http/paging",
          "projects come in pages of ten, oldest first, and the cursor reaches all of them",
        ),
      ],
    },
    {
      id: "project-default-branch",
      statement: "A new project has a default branch.",
      evidence: "R",
      scenario: "scenarios/life-of-a-compute.yaml",
      tests: [NEW_PROJECT],
    },
    {
      id: "project-primary",
      statement: "The default branch of a new project has a primary read-write compute.",
      evidence: "R",
      scenario: "scenarios/life-of-a-compute.yaml",
      tests: [NEW_PROJECT, MODEL],
      plantedBug: "project-without-a-primary",
    },
    {
      id: "project-branches",
      statement: "A project may have several branches.",
      evidence: "R",
      scenario: "scenarios/branch-per-pull-request.yaml",
      tests: [
        rule(
          "branch/branch",
          "a new branch is a child of the default branch, as of now, with its roles and databases",
        ),
      ],
    },
    {
      id: "branch-databases",
      statement: "A branch may have several databases, and always has the database postgres of the platform.",
      evidence: "R",
      tests: [
        rule("compute/activity", "activity names a database of the branch; postgres is always there"),
        rule("branch/database", "a new database"),
      ],
    },
    {
      id: "branch-computes",
      statement: "A client reaches the databases of a branch only through a compute of that branch.",
      evidence: "R",
      scenario: "scenarios/moves-between-branches.yaml",
      tests: [
        rule("compute/activity", "activity names a database of the branch; postgres is always there"),
        behaviour(
          "compute/endpoint-move",
          "after a move, clients can name the databases of the new branch only",
        ),
      ],
    },
  ],
} satisfies Section;
