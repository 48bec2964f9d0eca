// Whether the server is well: figures of now, and charts over the last ten minutes.

import { Chart, KEPT_S } from "./chart.js";
import { byId, bytes, count, el, milliseconds, setText, words } from "./dom.js";
import { meaning } from "./reasons.js";

const MEAN = 1;
const MAX = 2;
const OVERRUNS = 3;
const SKIPPED = 4;
const PLAYERS = 5;
const BYTES_IN = 8;
const BYTES_OUT = 9;
const DROPS = 10;
const MEMORY = 11;

export class Health {
  #history = [];
  #charts;
  #rows = new Map();

  constructor() {
    const rate = (value) => `${bytes(value)}/s`;
    this.#charts = [
      new Chart({
        id: "chart-tick",
        title: "Tick time",
        unit: milliseconds,
        least: 4,
        limit: { value: 100 },
        series: [
          { label: "longest", colour: "series-b", kind: "line", value: (s) => s[MAX] },
          { label: "mean", colour: "series-a", kind: "area", value: (s) => s[MEAN] },
        ],
      }),
      new Chart({
        id: "chart-late",
        title: "Late and skipped ticks",
        unit: count,
        least: 4,
        series: [
          { label: "late", colour: "series-b", kind: "bar", shift: -2, value: (s) => s[OVERRUNS] },
          { label: "skipped", colour: "bad", kind: "bar", shift: 0, value: (s) => s[SKIPPED] },
        ],
      }),
      new Chart({
        id: "chart-players",
        title: "Players",
        unit: count,
        least: 4,
        series: [{ label: "players", colour: "series-a", kind: "area", value: (s) => s[PLAYERS] }],
      }),
      new Chart({
        id: "chart-traffic",
        title: "Traffic",
        unit: rate,
        least: 1000,
        series: [
          { label: "out", colour: "series-a", kind: "area", value: (s) => s[BYTES_OUT] },
          { label: "in", colour: "series-b", kind: "line", value: (s) => s[BYTES_IN] },
        ],
      }),
      new Chart({
        id: "chart-drops",
        title: "Dropped datagrams a second",
        unit: count,
        least: 4,
        series: [{ label: "dropped", colour: "series-b", kind: "bar", value: (s) => s[DROPS] }],
      }),
      new Chart({
        id: "chart-memory",
        title: "Memory",
        unit: bytes,
        least: 10_000_000,
        series: [{ label: "resident", colour: "series-a", kind: "area", value: (s) => s[MEMORY] }],
      }),
    ];
    byId("charts").append(...this.#charts.map((chart) => chart.element));
  }

  /** Forgets everything: another server run is told of. */
  reset() {
    this.#history = [];
  }

  take({ now, seconds }, shown) {
    for (const sample of seconds) {
      const last = this.#history[this.#history.length - 1];
      if (!last || sample[0] > last[0]) this.#history.push(sample);
    }
    if (this.#history.length > KEPT_S) this.#history.splice(0, this.#history.length - KEPT_S);
    if (!shown) return;
    this.#tiles(now);
    this.#drops(now.drops);
    if (seconds.length > 0) this.show();
  }

  /** Draws the charts. */
  show() {
    for (const chart of this.#charts) chart.show(this.#history);
  }

  #tiles(now) {
    const last = this.#history[this.#history.length - 1] ?? [];
    const total = (counts) => Object.values(counts).reduce((sum, value) => sum + value, 0);
    setText(byId("tick-p50"), milliseconds(now.tick.p50_ms));
    setText(byId("tick-p99"), milliseconds(now.tick.p99_ms));
    setText(byId("tick-max"), milliseconds(now.tick.max_ms));
    setText(byId("overruns-now"), count(now.tick.overruns));
    setText(byId("skipped-now"), count(now.tick.skipped));
    setText(byId("players-now"), count(now.players));
    setText(byId("players-most"), `, at most ${count(now.max_players)}`);
    setText(byId("traffic-in"), `${bytes(last[BYTES_IN] ?? 0)}/s`);
    setText(byId("traffic-out"), `${bytes(last[BYTES_OUT] ?? 0)}/s`);
    setText(byId("drops-now"), count(total(now.drops.last_minute)));
    setText(byId("memory-now"), bytes(now.resident_bytes));
  }

  #drops(drops) {
    const body = byId("drops-table").tBodies[0];
    for (const [reason, total] of Object.entries(drops.by_reason)) {
      let row = this.#rows.get(reason);
      if (!row) {
        const [minute, since] = [el("td", { class: "number" }), el("td", { class: "number" })];
        const element = el("tr", {}, el("th", { scope: "row", text: words(reason) }), minute, since, el("td", { class: "dim", text: meaning(reason) }));
        row = { element, minute, since };
        this.#rows.set(reason, row);
        body.append(element);
      }
      setText(row.minute, count(drops.last_minute[reason] ?? 0));
      setText(row.since, count(total));
    }
    for (const [reason, row] of this.#rows) {
      if (reason in drops.by_reason) continue;
      row.element.remove();
      this.#rows.delete(reason);
    }
    const none = body.querySelector(".none");
    if (this.#rows.size > 0) none?.remove();
    else if (!none) body.append(el("tr", { class: "none" }, el("td", { colspan: "4", class: "dim", text: "none" })));
  }
}
