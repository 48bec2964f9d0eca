// Who is connected: a table that is sorted and filtered, with what can be done to a player.

import { ban, isOpen, kick } from "./dialog.js";
import { byId, count, duration, el, name, setText } from "./dom.js";
import { arrange, Rows } from "./tables.js";

const PHASES = { pre_auth: "logging in", pre_spawn: "not in the world", spawned: "in the world" };
/** Rows are put in order again at most so often. */
const ORDER_MS = 900;

/** Columns: how a cell is filled and what it is sorted by. */
const COLUMNS = [
  { id: "id", title: "Id", number: true, sort: (row) => row[1], text: (row) => String(row[1]) },
  { id: "name", title: "Name", sort: (row) => row[3].toLowerCase(), text: (row) => row[3] },
  { id: "phase", title: "Phase", sort: (row) => row[5], text: (row) => PHASES[row[5]] ?? row[5] },
  { id: "rtt", title: "Round trip", number: true, sort: (row) => row[6] ?? -1, text: (row) => (row[6] === null ? "-" : `${row[6]} ms`) },
  { id: "loss", title: "Loss", number: true, sort: (row) => row[7], text: (row) => `${row[7].toFixed(1)} %` },
  { id: "lane", title: "Waiting", number: true, sort: (row) => row[8], text: (row) => count(row[8]) },
  { id: "idle", title: "Idle", number: true, sort: (row) => row[9], text: (row) => (row[9] === 0 ? "-" : duration(row[9])) },
  { id: "address", title: "Address", sort: (row) => row[4], text: (row) => row[4] },
];

export class Players {
  #rows = new Rows();
  #elements = new Map();
  #sort = { id: "id", down: false };
  #actions = false;
  #ordered = 0;
  #timer = 0;

  constructor() {
    const head = el("tr");
    for (const column of COLUMNS) {
      const button = el("button", { type: "button", "data-sort": column.id, text: column.title, onclick: () => this.#sortBy(column.id) });
      head.append(el("th", { scope: "col", class: column.number && "number" }, button));
    }
    head.append(el("th", { scope: "col", class: "acts" }, el("span", { class: "hidden-text", text: "What can be done" })));
    byId("players-table").tHead.append(head);
    byId("players-filter").addEventListener("input", () => this.#order());
    this.#showSort();
  }

  /** Whether whoever looks may act. */
  allow(actions) {
    if (actions === this.#actions) return;
    this.#actions = actions;
    for (const [key, { acts }] of this.#elements) this.#fillActs(acts, key);
  }

  /** Forgets everything. */
  reset() {
    this.take({ reset: true });
  }

  take(news) {
    this.#rows.take(news, {
      changed: (key, row) => this.#fill(key, row),
      gone: (key) => {
        this.#elements.get(key)?.element.remove();
        this.#elements.delete(key);
      },
    });
    byId("players-hint").hidden = this.#actions;
    this.#soon();
  }

  #fill(key, row) {
    let held = this.#elements.get(key);
    if (!held) {
      const cells = COLUMNS.map((column) => el(column.id === "name" ? "th" : "td", { "data-column": column.id, "data-label": column.title, class: column.number && "number", scope: column.id === "name" && "row" }));
      const link = el("a", { href: `#entities=${key}` });
      cells[1].append(link);
      const acts = el("td", { class: "acts" });
      held = { element: el("tr", { "data-entity": key }, ...cells, acts), cells, link, acts, name: null };
      this.#fillActs(acts, key);
      this.#elements.set(key, held);
    }
    COLUMNS.forEach((column, index) => {
      if (column.id === "name") {
        if (held.name !== row[3]) held.link.replaceChildren(name(row[3]));
        held.name = row[3];
      } else {
        setText(held.cells[index], column.text(row));
      }
    });
  }

  #fillActs(cell, key) {
    const row = () => this.#rows.rows.get(key);
    const buttons = [el("a", { class: "button", href: `#map=${key}`, text: "Map" })];
    if (this.#actions) {
      buttons.push(
        el("button", { type: "button", "data-act": "kick", text: "Kick", onclick: () => row() && kick(key, row()[1], row()[3]) }),
        el("button", { type: "button", "data-act": "ban", text: "Ban", onclick: () => row() && ban(row()[4], row()[1], row()[3]) }),
      );
    }
    cell.replaceChildren(...buttons);
  }

  #sortBy(id) {
    this.#sort = { id, down: this.#sort.id === id && !this.#sort.down };
    this.#showSort();
    this.#order();
  }

  #showSort() {
    for (const button of byId("players-table").querySelectorAll("[data-sort]")) {
      const mine = button.dataset.sort === this.#sort.id;
      button.parentElement.setAttribute("aria-sort", mine ? (this.#sort.down ? "descending" : "ascending") : "none");
    }
  }

  /** Puts the rows in order soon, and not while somebody is about to press something in one of them. */
  #soon() {
    if (this.#timer) return;
    const wait = Math.max(0, this.#ordered + ORDER_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      const body = byId("players-table").tBodies[0];
      const busy = isOpen() || body.querySelector("button:hover, button:focus-visible") !== null;
      if (busy && body.childElementCount > 0) this.#ordered = performance.now();
      else this.#order();
    }, wait);
  }

  #order() {
    this.#ordered = performance.now();
    const wanted = byId("players-filter").value.trim().toLowerCase();
    // A number alone is an id, or stands in a name: in addresses it would be everywhere.
    const isNumber = /^\d+$/.test(wanted);
    const fits = (row) => wanted === "" || row[3].toLowerCase().includes(wanted) || (isNumber ? String(row[1]) === wanted : row[4].includes(wanted));
    const column = COLUMNS.find((one) => one.id === this.#sort.id);
    const sign = this.#sort.down ? -1 : 1;
    const shown = [...this.#rows.rows.values()].filter(fits).sort((a, b) => {
      const [left, right] = [column.sort(a), column.sort(b)];
      return (left < right ? -1 : left > right ? 1 : a[1] - b[1]) * sign;
    });
    const elements = shown.map((row) => this.#elements.get(row[0]).element);
    const body = byId("players-table").tBodies[0];
    if (elements.length < body.childElementCount) {
      const keep = new Set(elements);
      for (const element of [...body.children]) if (!keep.has(element)) element.remove();
    }
    arrange(body, elements);
    const all = this.#rows.rows.size;
    setText(byId("players-counts"), shown.length === all ? `${count(all)} connected` : shown.length === 0 ? `nobody of ${count(all)} fits` : `${count(shown.length)} of ${count(all)}`);
  }
}
