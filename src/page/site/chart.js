// A chart over the last ten minutes: lines or bars on a canvas, with a reading below it that follows pointer and arrow keys.

import { colour, duration, el, fitCanvas, onColours, setText } from "./dom.js";

/** Seconds that are kept. */
export const KEPT_S = 600;
/** Seconds that a chart shows, as soon as there is more than fits into fewer. */
const SPANS_S = [60, 120, 300, KEPT_S];
const LEFT = 66;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 22;

/** The least round number from which three or four even steps cover a value. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 3, 4, 6, 8, 10]) {
    if (step * power >= value) return step * power;
  }
  return 10 * power;
}

export class Chart {
  #canvas;
  #reading;
  #spec;
  #history = [];
  #cursor = null;
  #queued = false;

  /**
   * `spec`: id, title, `unit(value)` writes a value, `least` is the least height of the scale, `series` of
   * `{label, colour, value(sample), kind: "line"|"area"|"bar"}`, and `limit: {value, label}` for a line across.
   */
  constructor(spec) {
    this.#spec = spec;
    this.#canvas = el("canvas", { id: spec.id, tabindex: "0", role: "img", "aria-label": spec.title });
    this.#reading = el("p", { class: "reading" });
    const legend = el("span", { class: "legend-inline" });
    for (const series of spec.series) {
      legend.append(el("span", { class: "key", "data-colour": series.colour }), `${series.label} `);
    }
    this.element = el("figure", { class: "chart" }, el("figcaption", {}, el("span", { text: spec.title }), legend), this.#canvas, this.#reading);
    this.#canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.#canvas.addEventListener("pointerleave", () => this.#move(null));
    this.#canvas.addEventListener("blur", () => this.#move(null));
    this.#canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.redraw()).observe(this.#canvas);
    onColours(() => this.redraw());
  }

  /** Shows these samples, oldest first. */
  show(history) {
    this.#history = history;
    this.redraw();
  }

  /** Draws with the next frame, once however often it is asked. */
  redraw() {
    if (this.#queued || this.#canvas.offsetParent === null) return;
    this.#queued = true;
    requestAnimationFrame(() => {
      this.#queued = false;
      this.#draw();
    });
  }

  #newest() {
    return this.#history.length > 0 ? this.#history[this.#history.length - 1][0] : 0;
  }

  #span() {
    const there = this.#history.length > 0 ? this.#newest() - this.#history[0][0] : 0;
    return SPANS_S.find((span) => span >= there) ?? KEPT_S;
  }

  #point(event) {
    const box = this.#canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    const at = this.#newest() - this.#span() * (1 - share);
    let nearest = null;
    for (const sample of this.#history) {
      if (nearest === null || Math.abs(sample[0] - at) < Math.abs(nearest - at)) nearest = sample[0];
    }
    this.#move(nearest);
  }

  #key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30, Home: -KEPT_S, End: KEPT_S };
    const step = steps[event.key];
    if (!step || this.#history.length === 0) return;
    event.preventDefault();
    const from = this.#history.findIndex((sample) => sample[0] === this.#cursor);
    const index = (from < 0 ? this.#history.length - 1 : from) + step;
    this.#move(this.#history[Math.max(0, Math.min(this.#history.length - 1, index))][0]);
  }

  #move(at) {
    this.#cursor = at;
    this.redraw();
  }

  #read(sample) {
    const ago = this.#newest() - sample[0];
    const values = this.#spec.series.map((series) => `${series.label} ${this.#spec.unit(series.value(sample))}`);
    return `${ago === 0 ? "now" : `${duration(ago)} ago`}: ${values.join(", ")}`;
  }

  #draw() {
    const canvas = this.#canvas;
    fitCanvas(canvas);
    const context = canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    context.clearRect(0, 0, width, height);
    const newest = this.#newest();
    const span = this.#span();
    const shown = this.#history.filter((sample) => sample[0] >= newest - span);
    const { series, least, limit, unit } = this.#spec;
    let most = least;
    for (const sample of shown) {
      for (const one of series) most = Math.max(most, one.value(sample) ?? 0);
    }
    const top = ceiling(most);
    const x = (at) => LEFT + ((at - (newest - span)) / span) * (width - LEFT - RIGHT);
    const y = (value) => height - BOTTOM - (value / top) * (height - TOP - BOTTOM);
    this.#axes(context, { width, height, top, x, y, newest, span });
    if (limit && limit.value <= top) {
      context.strokeStyle = colour("--bad");
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(LEFT, y(limit.value));
      context.lineTo(width - RIGHT, y(limit.value));
      context.stroke();
      context.setLineDash([]);
    }
    for (const one of series) drawSeries(context, one, shown, x, y);
    const cursor = this.#history.find((sample) => sample[0] === this.#cursor);
    if (cursor) {
      context.strokeStyle = colour("--text");
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(x(cursor[0]), TOP);
      context.lineTo(x(cursor[0]), height - BOTTOM);
      context.stroke();
      context.globalAlpha = 1;
    }
    const last = shown[shown.length - 1];
    const text = cursor ? this.#read(cursor) : last ? this.#read(last) : "no figures yet";
    setText(this.#reading, text);
    canvas.setAttribute("aria-label", `${this.#spec.title}. ${text}. The scale ends at ${unit(top)}.`);
  }

  #axes(context, { width, height, top, x, y, newest, span }) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = colour("--dim");
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const share of [0, 0.5, 1]) {
      const at = Math.round(y(top * share)) + 0.5;
      context.beginPath();
      context.moveTo(LEFT, at);
      context.lineTo(width - RIGHT, at);
      context.stroke();
      context.fillText(this.#spec.unit(top * share), LEFT - 6, at);
    }
    context.textBaseline = "top";
    for (const share of [1, 0.5, 0]) {
      const ago = span * share;
      context.textAlign = share === 0 ? "right" : share === 1 ? "left" : "center";
      const text = ago === 0 ? "now" : ago < 120 ? `-${ago} s` : `-${ago / 60} min`;
      context.fillText(text, x(newest - ago), height - BOTTOM + 6);
    }
  }
}

function drawSeries(context, one, shown, x, y) {
  const tint = colour(`--${one.colour}`);
  context.strokeStyle = tint;
  context.fillStyle = tint;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  if (one.kind === "bar") {
    for (const sample of shown) {
      const value = one.value(sample) ?? 0;
      if (value > 0) context.fillRect(x(sample[0]) + (one.shift ?? -1), y(value), 2, Math.max(2, y(0) - y(value)));
    }
    return;
  }
  context.beginPath();
  let before = null;
  let begin = null;
  for (const sample of shown) {
    const value = one.value(sample);
    if (value === null || value === undefined) continue;
    // A second that is missing is a gap and no slope.
    if (before === null || sample[0] - before > 3) context.moveTo(x(sample[0]), y(value));
    else context.lineTo(x(sample[0]), y(value));
    begin ??= sample[0];
    before = sample[0];
  }
  context.stroke();
  if (one.kind === "area" && before !== null) {
    context.lineTo(x(before), y(0));
    context.lineTo(x(begin), y(0));
    context.globalAlpha = 0.14;
    context.fill();
    context.globalAlpha = 1;
  }
}
