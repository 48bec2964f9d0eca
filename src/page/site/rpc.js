// Questions to the server, one answer each.

import { headers } from "./session.js";

const PATIENCE_MS = 15_000;
/** The header that tells one run of the server from another: after a restart its names mean something else. */
const RUN = "X-Decitick-Run";
let run = "";

/** Takes over which run of the server is seen: the one that the stream comes from. */
export function see(response) {
  run = response.headers.get(RUN) ?? "";
  return run;
}

/** An answer that is not what was asked for, in words for people. */
export class Refused extends Error {
  constructor(message, { code = 0, signedOut = false } = {}) {
    super(message);
    this.code = code;
    this.signedOut = signedOut;
  }
}

/** Asks; the result, or `Refused`. */
export async function call(method, params) {
  const response = await ask(method, params, AbortSignal.timeout(PATIENCE_MS));
  let told;
  try {
    told = await response.json();
  } catch {
    throw new Refused("the server's answer cannot be read");
  }
  if (told.error) throw new Refused(told.error.message, { code: told.error.code });
  return told.result;
}

/** Sends a question; what comes back has begun and was not refused. */
export async function ask(method, params, signal) {
  let response;
  try {
    response = await fetch("/rpc", {
      method: "POST",
      headers: { ...headers(), [RUN]: run },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal,
    });
  } catch (error) {
    if (signal.aborted && error.name !== "TimeoutError") throw error;
    throw new Refused(error.name === "TimeoutError" ? "the server takes too long to answer" : "the server does not answer");
  }
  if (response.ok) return response;
  const message = await response.json().then((told) => told.error.message, () => `the server answers ${response.status}`);
  throw new Refused(message, { signedOut: response.status === 401 });
}
