import type { TransferOptions } from "../../ports/object-store.ts";
import { loadSatellite } from "../satellites.ts";
import { printError } from "../terminal/print.ts";

type ReportProgress = TransferOptions["progress"];

/** Transfers files to and from the object of a presigned URL. Rejects if the package for it is not installed. */
export async function openObject(url: URL, signal: AbortSignal) {
  const { uploadFile, downloadFile } = await loadSatellite("object-store", "a presigned URL");
  const onRetry = (message: string) => printError(`standin: ${message}\n`);
  return {
    upload: (path: string, progress: ReportProgress) => uploadFile(path, url, { signal, progress, onRetry }),
    /** Returns the SHA-256 of the file. */
    download: (path: string, progress: ReportProgress) =>
      downloadFile(url, path, { signal, progress, onRetry }),
  };
}
