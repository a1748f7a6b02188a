import type { Satellite } from "./satellite.ts";

export type TransferOptions = {
  readonly signal: AbortSignal;
  /** Called with the number of bytes that were transferred by this attempt. */
  readonly progress: (done: number, of: number) => Promise<void>;
  /** Called with what failed, before another attempt. */
  readonly onRetry: (message: string) => void;
  /** Delay before the second attempt; each later delay is twice as long. */
  readonly firstDelayMs?: number;
};

/** `@standin/object-store`. Rejections are errors for the user; nothing was changed then. */
export type ObjectStoreSatellite = Satellite & {
  /** Writes a file to the object of a presigned URL. */
  uploadFile(path: string, url: URL, options: TransferOptions): Promise<void>;
  /** Reads the object of a presigned URL into a new file. Returns the SHA-256 of its bytes. */
  downloadFile(url: URL, path: string, options: TransferOptions): Promise<string>;
};
