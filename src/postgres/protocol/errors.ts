import type { Refusal } from "../../platform/catalog/refusal-codes.ts";
import type { StoreUnavailable } from "../../worlds/world-handle.ts";
import type { ClientError, Severity } from "./messages.ts";

// D: texts and codes that clients of the real platform have reported. A: the others.

const ERROR: Severity = "ERROR";
const FATAL: Severity = "FATAL";
const PLATFORM = "XX000";

/** A connection is rejected or ended with an error that the client reads. */
export class ConnectionRejected extends Error {
  override readonly name = "ConnectionRejected";
  readonly clientError: ClientError;

  constructor(clientError: ClientError) {
    super(clientError.message);
    this.clientError = clientError;
  }
}

/** A fault closes the connection without an error. */
export class ConnectionDropped extends Error {
  override readonly name = "ConnectionDropped";
  readonly fault: string;

  constructor(fault: string) {
    super(`the fault "${fault}" has closed the connection`);
    this.fault = fault;
  }
}

export const CLIENT_ERRORS = {
  noEndpoint: {
    severity: ERROR,
    code: PLATFORM,
    message:
      "Endpoint ID is not specified. Either use a client library that sends the host name (SNI), or pass the endpoint ID (the first part of the host name) as a parameter: '?options=endpoint%3D<endpoint-id>'.",
  },
  unknownEndpoint: {
    severity: ERROR,
    code: PLATFORM,
    message:
      "The requested endpoint could not be found, or you don't have access to it. Please check the provided ID and try again.",
  },
  insecure: {
    severity: ERROR,
    code: PLATFORM,
    message: "connection is insecure (try using `sslmode=require`)",
  },
  blockedNetwork: {
    severity: ERROR,
    code: PLATFORM,
    message: "This connection is trying to access this endpoint from a blocked network.",
  },
  computeFailed: { severity: ERROR, code: PLATFORM, message: "Couldn't connect to compute node" },
  terminated: {
    severity: FATAL,
    code: "57P01",
    message: "terminating connection due to administrator command",
  },
  tooManyClients: {
    severity: FATAL,
    code: "08P01",
    message: "no more connections allowed (max_client_conn)",
  },
  tooManyReplications: {
    severity: FATAL,
    code: "53300",
    message: 'number of requested standby connections exceeds "max_wal_senders" (currently 10)',
  },
  tooManyLogins: {
    severity: FATAL,
    code: "53300",
    message: "too many connections have not logged in, so the oldest of them is closed",
  },
  queryWaitTimeout: { severity: FATAL, code: "08P01", message: "query_wait_timeout" },
  serverCrashed: { severity: FATAL, code: "08P01", message: "server conn crashed?" },
  dropped: { severity: FATAL, code: "08006", message: "the connection was lost" },
  diskFull: {
    severity: FATAL,
    code: "53100",
    message: "the data of the branch could not be written: no space left on device",
  },
  loginTimeout: { severity: FATAL, code: "08P01", message: "canceling authentication due to timeout" },
  serverStopping: { severity: FATAL, code: "57P03", message: "the database system is shutting down" },
} satisfies Record<string, ClientError>;

export function inconsistentEndpoint(fromHost: string, fromOptions: string): ClientError {
  return {
    severity: ERROR,
    code: PLATFORM,
    message: `Inconsistent project name inferred from SNI ('${fromHost}') and project option ('${fromOptions}').`,
  };
}

export function addressNotAllowed(address: string): ClientError {
  return {
    severity: ERROR,
    code: PLATFORM,
    message: `This IP address ${address} is not allowed to connect to this endpoint. Add it to the project's allowed_ips.`,
  };
}

export function unknownWorld(name: string): ClientError {
  return { severity: ERROR, code: PLATFORM, message: `there is no world "${name}"` };
}

/** A wrong password and a role that does not exist have the same error, so that clients cannot find names of roles. */
export function authenticationFailed(role: string): ClientError {
  return { severity: ERROR, code: "28P01", message: `password authentication failed for user '${role}'` };
}

export function protocolViolation(message: string): ClientError {
  return { severity: FATAL, code: "08P01", message };
}

/** Postgres cannot be run; the message names the flag or the installation. */
export function engineUnavailable(message: string): ClientError {
  return { severity: FATAL, code: "53000", message };
}

/** Data may not be added to this server. */
export function dataLimitExceeded(message: string): ClientError {
  return { severity: FATAL, code: "53100", message };
}

/** The world cannot be opened, or the connection cannot be stored in it. */
export function worldUnavailable({ isDiskFull, message }: StoreUnavailable): ClientError {
  return { severity: FATAL, code: isDiskFull ? "53100" : "53000", message };
}

/** The error of a connection that the platform's rules refuse. */
export function refusedConnection({ code, message }: Refusal, database: string, pooled = false): ClientError {
  switch (code) {
    case "ENDPOINT_NOT_FOUND":
      return CLIENT_ERRORS.unknownEndpoint;
    case "ENDPOINT_DISABLED":
      return {
        severity: ERROR,
        code: PLATFORM,
        message: "The endpoint has been disabled. Enable it using the API and retry.",
      };
    case "QUOTA_EXCEEDED":
      return {
        severity: ERROR,
        code: PLATFORM,
        message:
          "Your account or project has exceeded the compute time quota. Upgrade your plan to increase limits.",
      };
    case "TOO_MANY_CONNECTIONS":
      if (pooled) return CLIENT_ERRORS.tooManyClients;
      return { severity: FATAL, code: "53300", message: "sorry, too many clients already" };
    case "DATABASE_NOT_FOUND":
      return { severity: FATAL, code: "3D000", message: `database "${database}" does not exist` };
    default:
      return { severity: ERROR, code: PLATFORM, message };
  }
}

export function rejectedByFault(code: string, message: string): ClientError {
  return { severity: FATAL, code, message };
}
