import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** How the store answers one request instead of serving it. */
type StoreFault = { readonly status: number; readonly code: string } | "cut" | "redirect";

/** An object store over HTTP that is used with presigned URLs. */
export type ObjectStore = {
  readonly objects: Map<string, Buffer>;
  /** Faults of the next requests, in order. */
  readonly faults: StoreFault[];
  /** Method and path of each request, with the status of its answer. */
  readonly log: string[];
  /** Sizes of the bodies that were received. */
  readonly received: number[];
  presign(method: "GET" | "PUT", key: string): string;
};

const SECRET = "secret-of-the-store";

const signatureOf = (method: string, path: string) =>
  createHmac("sha256", SECRET).update(`${method} ${path}`).digest("hex");

const errorXml = (code: string, message: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`;

/**
 * A server that behaves as S3 does for presigned URLs: a signature is for one method and key, a PUT needs a
 * Content-Length, errors are XML, and the body of a rejected request is not read if the client expects 100-continue.
 */
export async function startObjectStore(): Promise<ObjectStore> {
  const objects = new Map<string, Buffer>();
  const faults: StoreFault[] = [];
  const log: string[] = [];
  const received: number[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse, accept: () => void) => {
    const { method = "", headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://store");
    const answer = (status: number, body: string | Buffer = "", more: Record<string, string> = {}) => {
      log.push(`${method} ${pathname} ${status}`);
      response.writeHead(status, { "Content-Length": Buffer.byteLength(body), ...more }).end(body);
    };
    const fault = faults.shift();
    if (fault === "redirect")
      return answer(307, "", { Location: `${request.url}`, "Content-Type": "application/xml" });
    if (typeof fault === "object") return answer(fault.status, errorXml(fault.code, "Please try again."));
    if (searchParams.get("X-Amz-Signature") !== signatureOf(method, pathname))
      return answer(
        403,
        errorXml("SignatureDoesNotMatch", "The request signature does not match &quot;yours&quot;."),
      );
    if (method === "PUT") {
      if (headers["content-length"] === undefined || headers["transfer-encoding"] !== undefined)
        return answer(411, errorXml("MissingContentLength", "You must provide a Content-Length."));
      if (fault === "cut") return request.socket.destroy();
      accept();
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      received.push(body.length);
      objects.set(pathname, body);
      return answer(200);
    }
    const object = objects.get(pathname);
    if (object === undefined) return answer(404, errorXml("NoSuchKey", "The key does not exist."));
    if (fault !== "cut") return answer(200, object);
    log.push(`${method} ${pathname} cut`);
    response.writeHead(200, { "Content-Length": object.length });
    response.write(object.subarray(0, object.length / 2), () => request.socket.destroy());
  };
  const handle = (request: IncomingMessage, response: ServerResponse, accept: () => void) =>
    void serve(request, response, accept).catch(() => response.destroy());
  const server = createServer((request, response) => handle(request, response, () => undefined));
  server.on("checkContinue", (request, response) =>
    handle(request, response, () => response.writeContinue()),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...{ objects, faults, log, received },
    presign: (method, key) =>
      `http://127.0.0.1:${port}/${key}?X-Amz-Expires=900&X-Amz-Signature=${signatureOf(method, `/${key}`)}`,
  };
}
