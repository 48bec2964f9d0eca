// The gamemodes: how they stand, what they cost, what went wrong in them.

import { script } from "./dialog.js";
import { byId, bytes, count, el, milliseconds, setText, visible } from "./dom.js";
import { Rows } from "./tables.js";

const STATES = {
  running: "runs",
  paused: "paused: it used too much too often",
  waiting: "waits for what it needs",
  faulty: "does not run: faults in its files",
};

const COLUMNS = [
  { id: "name", title: "Gamemode", text: (row) => row[0] },
  { id: "state", title: "State", text: (row) => STATES[row[2]] ?? row[2] },
  { id: "time", title: "Time", number: true, text: (row) => `${milliseconds(row[5])}/s` },
  { id: "longest", title: "Longest call", number: true, text: (row) => milliseconds(row[6]) },
  { id: "calls", title: "Calls", number: true, text: (row) => count(row[3]) },
  { id: "errors", title: "Errors", number: true, text: (row) => count(row[4]) },
  { id: "memory", title: "Memory", number: true, text: (row) => bytes(row[7]) },
];

export class Scripts {
  #rows = new Rows();
  #elements = new Map();
  #actions = false;
  #told = false;

  constructor() {
    const head = el("tr", {}, ...COLUMNS.map(({ title, number }) => el("th", { scope: "col", class: number && "number", text: title })));
    head.append(el("th", { scope: "col", class: "acts" }, el("span", { class: "hidden-text", text: "What can be done" })));
    byId("scripts-table").tHead.append(head);
  }

  /** Whether whoever looks may act. */
  allow(actions) {
    if (actions === this.#actions) return;
    this.#actions = actions;
    for (const [key, { acts, element }] of this.#elements) this.#fillActs(acts, key, element.dataset.state === "stopped");
  }

  /** Forgets everything. */
  reset() {
    this.take({ reset: true });
    byId("scripts-table").tBodies[0].replaceChildren();
    this.#elements.clear();
  }

  take(news) {
    this.#told = true;
    this.#rows.take(news, {
      changed: (key, row) => this.#fill(key, row),
      gone: (key) => this.#stopped(key),
    });
    byId("scripts-none").hidden = !this.#told || this.#elements.size > 0;
  }

  /** Who stopped a gamemode here may want to start it again: its row stays. */
  #stopped(key) {
    const { element, errorRow, cells, acts } = this.#elements.get(key);
    errorRow.remove();
    element.dataset.state = "stopped";
    COLUMNS.forEach(({ id }, index) => {
      if (id !== "name") setText(cells[index], id === "state" ? "stopped" : "-");
    });
    this.#fillActs(acts, key, true);
  }

  #fill(key, row) {
    let held = this.#elements.get(key);
    if (!held) {
      const cells = COLUMNS.map(({ id, title, number }) => el(id === "name" ? "th" : "td", { "data-column": id, "data-label": title, class: number && "number", scope: id === "name" && "row" }));
      const [title, about] = [el("bdi"), el("span", { class: "about dim" })];
      cells[0].append(title, about);
      const acts = el("td", { class: "acts" });
      const error = el("code");
      const errorRow = el("tr", { class: "error-row" }, el("td", { colspan: String(COLUMNS.length + 1) }, "Last error ", error));
      held = { element: el("tr", { "data-resource": key }, ...cells, acts), cells, acts, title, about, error, errorRow };
      this.#fillActs(acts, key);
      this.#elements.set(key, held);
      byId("scripts-table").tBodies[0].append(held.element);
    }
    if (held.element.dataset.state === "stopped") this.#fillActs(held.acts, key);
    held.element.dataset.state = row[2];
    COLUMNS.forEach((column, index) => {
      if (column.id !== "name") setText(held.cells[index], column.text(row));
    });
    setText(held.title, visible(row[0]));
    setText(held.about, visible(row[1]));
    if (row[8] === null) {
      held.errorRow.remove();
    } else {
      setText(held.error, visible(row[8]));
      if (!held.errorRow.isConnected) held.element.after(held.errorRow);
    }
  }

  #fillActs(cell, key, stopped = false) {
    if (!this.#actions) {
      cell.replaceChildren();
      return;
    }
    const button = (action, text) => el("button", { type: "button", "data-act": action, text, onclick: () => script(action, key) });
    cell.replaceChildren(...(stopped ? [button("start", "Start")] : [button("restart", "Restart"), button("stop", "Stop")]));
  }
}
