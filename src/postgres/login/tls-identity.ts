import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext, type SecureContext } from "node:tls";
import { generate } from "selfsigned";
import { MAX } from "../../input-limits/limits.ts";

/** A certificate of the server, as one TLS connection uses it. */
export type ServerCertificate = {
  readonly context: SecureContext;
  /** RFC 5929: what a client binds its login to. */
  readonly hash: Buffer;
};

type Pem = { readonly key: string; readonly cert: string };

const CA_CERTIFICATE = "ca.pem";
const CA_KEY = "ca-key.pem";
const CA_YEARS = 10;
/** Shorter than the limit of 398 days for leaf certificates. */
const LEAF_DAYS = 397;
const DAY_MS = 86_400_000;

/**
 * The certificates of the gateway. Without files of the operator, a certificate authority is created in
 * `directory` on first use, and signs one certificate per domain.
 */
export class TlsIdentity {
  readonly #directory: string;
  readonly #given: ServerCertificate | undefined;
  #authority: Promise<Pem> | undefined;
  readonly #leaves = new Map<string, Promise<ServerCertificate>>();

  constructor(directory: string, given?: Pem) {
    this.#directory = directory;
    this.#given = given === undefined ? undefined : certificateOf(given);
  }

  /** The file with the certificate that clients verify the gateway with. Created unless it exists. */
  async authorityFile(): Promise<string> {
    await this.#loadAuthority();
    return join(this.#directory, CA_CERTIFICATE);
  }

  /** The certificate for a host name; `undefined`: for `localhost` and loopback addresses. */
  certificateFor(serverName: string | undefined): Promise<ServerCertificate> {
    if (this.#given !== undefined) return Promise.resolve(this.#given);
    // One certificate per region covers all its computes.
    const domain = serverName?.includes(".") === true ? serverName.slice(serverName.indexOf(".") + 1) : "";
    let leaf = this.#leaves.get(domain);
    if (leaf === undefined) {
      // Clients choose the name, so the oldest certificate makes room.
      if (this.#leaves.size >= MAX.tlsCertificates) this.#leaves.delete([...this.#leaves.keys()][0] ?? "");
      leaf = this.#newLeaf(domain);
      this.#leaves.set(domain, leaf);
      leaf.catch(() => this.#leaves.delete(domain));
    }
    return leaf;
  }

  #loadAuthority(): Promise<Pem> {
    this.#authority ??= this.#openAuthority();
    return this.#authority;
  }

  async #openAuthority(): Promise<Pem> {
    const keyFile = join(this.#directory, CA_KEY);
    const certificateFile = join(this.#directory, CA_CERTIFICATE);
    if (existsSync(keyFile))
      return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certificateFile, "utf8") };
    const { private: key, cert } = await generate(
      [{ name: "commonName", value: "standin local certificate authority" }],
      {
        keyType: "ec",
        algorithm: "sha256",
        notAfterDate: new Date(Date.now() + CA_YEARS * 365 * DAY_MS),
        extensions: [
          { name: "basicConstraints", cA: true, critical: true },
          { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
        ],
      },
    );
    const unfinished = `${this.#directory}.${randomBytes(4).toString("hex")}.unfinished`;
    mkdirSync(unfinished, { recursive: true, mode: 0o700 });
    writeFileSync(join(unfinished, CA_KEY), key, { mode: 0o600 });
    writeFileSync(join(unfinished, CA_CERTIFICATE), cert, { mode: 0o600 });
    try {
      renameSync(unfinished, this.#directory);
    } catch (error) {
      rmSync(unfinished, { recursive: true, force: true });
      // Another process was first.
      if (existsSync(keyFile)) return this.#openAuthority();
      throw error;
    }
    return { key, cert };
  }

  async #newLeaf(domain: string): Promise<ServerCertificate> {
    const ca = await this.#loadAuthority();
    const { private: key, cert } = await generate(
      [{ name: "commonName", value: domain === "" ? "localhost" : domain }],
      {
        keyType: "ec",
        algorithm: "sha256",
        ca,
        notAfterDate: new Date(Date.now() + LEAF_DAYS * DAY_MS),
        extensions: [
          { name: "basicConstraints", cA: false, critical: true },
          { name: "keyUsage", digitalSignature: true, critical: true },
          { name: "extKeyUsage", serverAuth: true },
          {
            name: "subjectAltName",
            altNames: [
              ...(domain === ""
                ? []
                : [
                    { type: 2 as const, value: domain },
                    { type: 2 as const, value: `*.${domain}` },
                  ]),
              { type: 2, value: "localhost" },
              { type: 7, ip: "127.0.0.1" },
              { type: 7, ip: "::1" },
            ],
          },
        ],
      },
    );
    return certificateOf({ key, cert: `${cert}\n${ca.cert}` });
  }
}

function certificateOf({ key, cert }: Pem): ServerCertificate {
  const hash = createHash("sha256").update(new X509Certificate(cert).raw).digest();
  return { context: createSecureContext({ key, cert, minVersion: "TLSv1.2" }), hash };
}
