import { sameHash, signatureOf } from "../../worlds/secrets.ts";

/** Permission of a presigned URL, until an instant of the world's clock. */
export type Transfer = {
  readonly method: "PUT" | "GET";
  readonly branchId: string;
  readonly bucket: string;
  readonly name: string;
  /** The upload must have this type. Absent: any. */
  readonly contentType?: string | undefined;
  readonly expiresAt: number;
};

const PARAMETERS = { expires: "expires", contentType: "content-type", signature: "signature" };

/** The path below the world, as a route. */
export const TRANSFER_PATH = "/storage/:branch_id/:bucket_name/:object_key";

export function presignedUrl(worldUrl: string, secret: string, transfer: Transfer): string {
  const { branchId, bucket, name, contentType, expiresAt } = transfer;
  const place = [branchId, bucket, name].map(encodeURIComponent).join("/");
  const query = new URLSearchParams({ [PARAMETERS.expires]: String(expiresAt) });
  if (contentType !== undefined) query.set(PARAMETERS.contentType, contentType);
  query.set(PARAMETERS.signature, signatureOf(secret, signedText(transfer)));
  return `${worldUrl}/storage/${place}?${query}`;
}

/** The permission that the URL of a request claims. */
export function claimedTransfer(
  url: string,
  method: Transfer["method"],
  [branchId = "", bucket = "", name = ""]: readonly (string | undefined)[],
): { readonly transfer: Transfer; readonly signature: string } {
  const query = new URL(url).searchParams;
  const contentType = query.get(PARAMETERS.contentType) ?? undefined;
  const expiresAt = Number(query.get(PARAMETERS.expires));
  return {
    transfer: { method, branchId, bucket, name, contentType, expiresAt },
    signature: query.get(PARAMETERS.signature) ?? "",
  };
}

export function isSigned(secret: string, transfer: Transfer, signature: string): boolean {
  return sameHash(signature, signatureOf(secret, signedText(transfer)));
}

function signedText({ method, branchId, bucket, name, contentType = "", expiresAt }: Transfer): string {
  return JSON.stringify([method, branchId, bucket, name, contentType, expiresAt]);
}
