import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

// The compiler compares the objects with the types of the Kubernetes API. No cluster has run them.

const ROOT = resolve(import.meta.dirname, "../..");
const BASE = "deploy/kustomize/base";

type Resource = { apiVersion: string; kind: string } & Record<string, unknown>;

describe("the types of the Kubernetes API", { timeout: 60_000 }, () => {
  test("accept the files", () => {
    const files = [`${BASE}/service.yaml`, `${BASE}/statefulset.yaml`, "deploy/cells/kubernetes.yaml"];
    expect(typeErrors(files.flatMap(resources))).toEqual([]);
  });

  test("reject a field that does not exist, one of another type, and a missing one", () => {
    const service = (spec: object) => ({ apiVersion: "v1", kind: "Service", spec });
    const set = { apiVersion: "apps/v1", kind: "StatefulSet", spec: { serviceName: "a", selector: {} } };
    expect(typeErrors([service({ replicas: 1 }), service({ ports: [{ port: "4620" }] }), set])).toEqual([
      expect.stringContaining("'\"replicas\"' does not exist"),
      expect.stringContaining("Type 'string' is not assignable to type 'number'"),
      expect.stringContaining("Property 'template' is missing"),
    ]);
  });
});

describe("the kustomization", () => {
  const [service] = resources(`${BASE}/service.yaml`) as never[] as {
    spec: { selector: object; ports: { port: number; targetPort: string }[] };
  }[];
  const [set] = resources(`${BASE}/statefulset.yaml`) as never[] as { spec: StatefulSetSpec }[];
  const [container] = set?.spec.template.spec.containers ?? [];

  test("lists every file of its directory, and the image of this version", () => {
    const { resources: files, images } = parse(read(`${BASE}/kustomization.yaml`));
    expect([...files, "kustomization.yaml"].sort()).toEqual(readdirSync(join(ROOT, BASE)).sort());
    expect(images).toEqual([
      {
        name: container?.image,
        newName: expect.any(String),
        newTag: JSON.parse(read("package.json")).version,
      },
    ]);
  });

  test("runs one server, whose pod the service selects", () => {
    expect(set?.spec.replicas).toBe(1);
    expect(set?.spec.selector.matchLabels).toEqual(service?.spec.selector);
    expect(set?.spec.template.metadata.labels).toEqual(service?.spec.selector);
  });

  test("uses the ports, the volume and the user of the image", () => {
    const dockerfile = read("Dockerfile");
    const ports = container?.ports.map(({ containerPort }) => containerPort);
    expect(dockerfile).toContain(`\nEXPOSE ${ports?.join(" ")}\n`);
    expect(service?.spec.ports.map(({ port, targetPort }) => [targetPort, port])).toEqual(
      container?.ports.map(({ name, containerPort }) => [name, containerPort]),
    );
    const [claim] = set?.spec.volumeClaimTemplates ?? [];
    const mount = container?.volumeMounts.find(({ name }) => name === claim?.metadata.name);
    expect(dockerfile).toContain(`\nVOLUME ${mount?.mountPath}\n`);
    // The official images of Node have the user `node` with the number 1000.
    expect(dockerfile).toContain("\nUSER node\n");
    expect(set?.spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
  });

  test("reads the secret that the guide creates", () => {
    const guide = read("docs/how-to/install.md");
    const keys = container?.env.map(({ valueFrom }) => valueFrom.secretKeyRef);
    expect(keys?.length).toBeGreaterThan(0);
    for (const { name, key } of keys ?? []) {
      expect(guide).toContain(`create secret generic ${name} `);
      expect(guide).toContain(`--from-literal=${key}=`);
    }
  });
});

interface StatefulSetSpec {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: object };
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  readonly template: {
    readonly metadata: { readonly labels: object };
    readonly spec: { readonly securityContext: object; readonly containers: readonly Container[] };
  };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly env: readonly {
    readonly valueFrom: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

function resources(file: string): Resource[] {
  return parseAllDocuments(read(file)).map((document) => document.toJS());
}

/** The messages of the compiler for these objects, in the order of their positions. */
function typeErrors(objects: readonly Resource[]): string[] {
  const source = objects.map((object, index) => {
    const { apiVersion, kind } = object;
    const module = apiVersion.includes("/") ? apiVersion : `core/${apiVersion}`;
    return `export const object${index}: import("kubernetes-types/${module}").${kind} = ${JSON.stringify(object, undefined, 1)};`;
  });
  const name = join(ROOT, "test/unit/kubernetes-objects.ts");
  const options: ts.CompilerOptions = {
    ...{ noEmit: true, strict: true, skipLibCheck: true, types: [] },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  };
  const host = ts.createCompilerHost(options);
  const parseFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version) =>
    path === name ? ts.createSourceFile(path, source.join("\n"), version, true) : parseFile(path, version);
  const program = ts.createProgram([name], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
