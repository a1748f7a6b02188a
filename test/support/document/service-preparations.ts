import { expectSuccess, type SceneApi, type Scene as SceneOf } from "./contract-scene.ts";

type Scene = SceneOf<SceneApi>;
type Fetch = (request: Request) => Response | Promise<Response>;

export function deploymentForm({
  zip,
  environment,
}: {
  readonly zip?: string;
  readonly environment?: Readonly<Record<string, string>>;
}): FormData {
  const form = new FormData();
  if (zip !== undefined) form.append("zip", new Blob([zip]), "bundle.zip");
  if (environment !== undefined) form.append("environment", JSON.stringify(environment));
  return form;
}

/** Deploys the function of the scene, or another one, on its first branch. */
export async function deployFunction({ double, ids }: Scene, slug = ids.slug): Promise<void> {
  const path = `/projects/${ids.project_id}/branches/${ids.branch_id}/functions/${slug}/deployments`;
  await expectSuccess(double.api("POST", path, deploymentForm({ zip: "code", environment: { A: "1" } })));
}

/** Uploads the object of the scene, or another one, to its bucket. */
export async function uploadObject({ double, ids }: Scene, key = ids.object_key): Promise<void> {
  const bucket = `/projects/${ids.project_id}/branches/${ids.branch_id}/buckets/${ids.bucket_name}`;
  const { url } = await expectSuccess(
    double.api("POST", `${bucket}/objects/${encodeURIComponent(key)}/presign`, { operation: "upload" }),
  );
  // The double of this process has no socket.
  const send: Fetch = "fetch" in double ? (double.fetch as Fetch) : fetch;
  const { status } = await send(new Request(url, { method: "PUT", body: "bytes" }));
  if (status !== 200) throw new Error(`upload: ${status}`);
}
