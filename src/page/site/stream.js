// What the server tells by itself: one stream, opened anew when the page wants to see something else, and when it broke,
// again and again.

import { ask, Refused, see } from "./rpc.js";

/** Waits between tries. */
const WAITS_MS = [1000, 2000];
/** Without an event for so long something hangs: they come twice a second. */
const STALE_MS = 3000;

export class Stream {
  #wanted = null;
  #abort = null;
  #generation = 0;
  #tries = 0;
  #timer = 0;
  #lastEvent = 0;
  #lostSince = 0;
  #handlers;

  /** `run(run)` before the first event of a stream, `event(event)`, `state(state, since, why)` with live, stalled or lost, and `signedOut(why)`. */
  constructor(handlers) {
    this.#handlers = handlers;
    setInterval(() => this.#watch(), 500);
  }

  /** Opens the stream for this, unless it is open for the same. */
  want(request) {
    const wanted = request && JSON.stringify(request);
    if (wanted === this.#wanted && (this.#abort || this.#timer)) return;
    this.close();
    this.#wanted = wanted;
    if (wanted) this.#open();
    else this.#lostSince = 0;
  }

  close() {
    this.#generation += 1;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#abort?.abort();
    this.#abort = null;
    this.#wanted = null;
  }

  async #open() {
    const generation = this.#generation;
    const abort = new AbortController();
    this.#abort = abort;
    this.#lastEvent = performance.now();
    let why = "the server ended the stream";
    try {
      const response = await ask("decitick.live+watch", JSON.parse(this.#wanted), abort.signal);
      if (generation !== this.#generation) return;
      this.#handlers.run(see(response));
      await this.#read(response.body.getReader(), generation);
    } catch (error) {
      if (generation !== this.#generation) return;
      if (error instanceof Refused && error.signedOut) {
        this.want(null);
        this.#handlers.signedOut(error.message);
        return;
      }
      why = error.message;
    }
    if (generation === this.#generation) this.#again(why);
  }

  async #read(reader, generation) {
    const decoder = new TextDecoder();
    let held = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (generation !== this.#generation) return reader.cancel();
      if (done) return undefined;
      held += decoder.decode(value, { stream: true });
      for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
        const told = JSON.parse(held.slice(held.indexOf(":") + 1, end));
        held = held.slice(end + 2);
        if (told.error) throw new Refused(told.error.message);
        this.#lastEvent = performance.now();
        this.#lostSince = 0;
        this.#tries = 0;
        this.#handlers.state("live", 0);
        this.#handlers.event(told.result);
        if (generation !== this.#generation) return reader.cancel();
      }
    }
  }

  #again(why) {
    this.#abort?.abort();
    this.#abort = null;
    this.#lostSince ||= performance.now();
    this.#handlers.state("lost", performance.now() - this.#lostSince, why);
    const wait = WAITS_MS[Math.min(this.#tries, WAITS_MS.length - 1)];
    this.#tries += 1;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#open();
    }, wait);
  }

  #watch() {
    const now = performance.now();
    if (!this.#wanted) return;
    if (this.#lostSince) this.#handlers.state("lost", now - this.#lostSince);
    else if (this.#abort && now - this.#lastEvent > STALE_MS) this.#handlers.state("stalled", now - this.#lastEvent);
  }
}
