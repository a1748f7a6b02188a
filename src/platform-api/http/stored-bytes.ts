/** The bytes of an object, as a response. S: its headers keep a browser from showing what a caller has uploaded. */
export class StoredBytes {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;

  constructor(bytes: Uint8Array, etag: string) {
    this.bytes = bytes;
    this.headers = {
      "Content-Type": "application/octet-stream",
      "Content-Length": String(bytes.byteLength),
      ETag: `"${etag}"`,
      "X-Content-Type-Options": "nosniff",
      "Content-Disposition": "attachment",
    };
  }
}
