// The log as it grows.

import { byId, count, el, setText, visible } from "./dom.js";

/** Lines that are kept. */
const KEPT = 2000;
const LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];
/** How near to the end counts as at the end, in pixels. */
const AT_END = 30;

export class Log {
  #list = byId("log-lines");
  #lines = [];
  #last = 0;
  #paused = false;
  #waiting = [];
  #dropped = 0;

  constructor() {
    byId("log-level").addEventListener("change", () => this.#filter());
    byId("log-filter").addEventListener("input", () => this.#filter());
    byId("log-pause").addEventListener("click", () => this.#pause());
    byId("log-newest").addEventListener("click", () => this.#toEnd());
    this.#list.addEventListener("scroll", () => this.#showNewest());
  }

  /** Another run of the server counts its lines anew. */
  restarted() {
    if (this.#last > 0) this.#gap("the server was started anew");
    this.#last = 0;
  }

  take({ lines }) {
    const atEnd = this.#isAtEnd();
    const fresh = lines.filter(([number]) => number > this.#last);
    const missed = fresh.length > 0 && this.#last > 0 ? fresh[0][0] - this.#last - 1 : 0;
    if (missed > 0) this.#gap(`${count(missed)} lines are missing here`);
    for (const line of fresh) {
      this.#last = line[0];
      if (this.#paused) this.#waiting.push(line);
      else this.#add(line);
    }
    if (this.#waiting.length > KEPT) {
      this.#dropped += this.#waiting.length - KEPT;
      this.#waiting.splice(0, this.#waiting.length - KEPT);
    }
    this.#trim();
    this.#counts();
    if (atEnd && !this.#paused) this.#toEnd();
    this.#showNewest();
  }

  /** The panel is shown. */
  open() {
    this.#toEnd();
  }

  #add([number, unix, level, target, message, fields]) {
    const time = new Date(unix);
    const element = el(
      "li",
      { "data-number": number, "data-level": level },
      el("time", { datetime: time.toISOString(), text: time.toLocaleTimeString([], { hour12: false }) }),
      el("span", { class: "level", text: level.toLowerCase() }),
      el("span", { class: "message" }, el("bdi", { text: visible(message) }), " ", el("bdi", { class: "fields", text: visible(fields) })),
      el("span", { class: "target dim", text: visible(target) }),
    );
    const text = `${message} ${fields} ${target}`.toLowerCase();
    const line = { element, level, text };
    element.hidden = !this.#fits(line);
    this.#lines.push(line);
    this.#list.append(element);
  }

  #gap(text) {
    this.#list.append(el("li", { class: "gap dim", text }));
  }

  #trim() {
    while (this.#lines.length > KEPT) {
      const { element } = this.#lines.shift();
      while (this.#list.firstElementChild !== element) this.#list.firstElementChild.remove();
      element.remove();
    }
  }

  #fits({ level, text }) {
    const least = LEVELS.indexOf(byId("log-level").value);
    const wanted = byId("log-filter").value.toLowerCase().split(/\s+/);
    return LEVELS.indexOf(level) >= least && wanted.every((word) => text.includes(word));
  }

  #filter() {
    for (const line of this.#lines) line.element.hidden = !this.#fits(line);
    this.#counts();
    this.#toEnd();
  }

  #pause() {
    this.#paused = !this.#paused;
    byId("log-pause").setAttribute("aria-pressed", String(this.#paused));
    setText(byId("log-pause"), this.#paused ? "Go on" : "Pause");
    if (!this.#paused) {
      if (this.#dropped > 0) this.#gap(`${count(this.#dropped)} lines are missing here`);
      this.#dropped = 0;
      for (const line of this.#waiting.splice(0)) this.#add(line);
      this.#trim();
      this.#toEnd();
    }
    this.#counts();
  }

  #counts() {
    const shown = this.#lines.reduce((sum, { element }) => sum + (element.hidden ? 0 : 1), 0);
    const waiting = this.#waiting.length > 0 ? `, ${count(this.#waiting.length)} wait` : "";
    setText(byId("log-counts"), `${count(shown)} of ${count(this.#lines.length)} lines${waiting}`);
  }

  #isAtEnd() {
    return this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < AT_END;
  }

  #toEnd() {
    this.#list.scrollTop = this.#list.scrollHeight;
    this.#showNewest();
  }

  #showNewest() {
    byId("log-newest").hidden = this.#isAtEnd();
  }
}
