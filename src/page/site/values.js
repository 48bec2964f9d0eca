// The values of one entity, component by component, as they change; those that are watched are kept with their history.

import { el, setText, visible } from "./dom.js";

/** Changes that are kept of a watched value. */
const KEPT = 20;

export class Values {
  element = el("div", { class: "values" });
  #entity = null;
  #components = new Map();
  #watched = new Map();
  #watchList = el("ul", { class: "watched", "aria-label": "Watched values" });
  #hidden = null;
  #ended = null;

  /** Shows another entity, or none. */
  begin(entity) {
    if (entity === this.#entity) return;
    this.#entity = entity;
    this.#components.clear();
    this.#watched.clear();
    this.#watchList.replaceChildren();
    this.#hidden = null;
    this.#ended = null;
    this.element.replaceChildren(...(entity ? [el("p", { class: "dim", text: "…" })] : []));
  }

  /** The player's id, if it is a player. */
  id() {
    return this.#components.get("PlayerId")?.rows.values().next().value?.text;
  }

  /** Where a connection comes from. */
  address() {
    return this.#components.get("Peer")?.rows.get("address")?.text.replaceAll('"', "");
  }

  take(news) {
    if (news.entity !== this.#entity) return;
    if (news.ended) {
      this.#ended ??= el("p", { class: "warning", role: "status", text: `This entity is gone: ${news.ended}.` });
      this.element.prepend(this.#ended);
      return;
    }
    if (news.reset) this.#reset(news);
    for (const [component, path] of news.gone ?? []) this.#remove(component, path);
    for (const [component, path, text] of news.values) this.#set(component, path, text, !news.reset);
  }

  #reset(news) {
    this.#ended = null;
    if (this.#hidden) {
      // The stream was opened anew for the same entity: what is still there is told again.
      const told = new Set(news.values.map(([component, path]) => `${component}\n${path}`));
      for (const [component, { rows }] of this.#components) {
        for (const path of [...rows.keys()]) if (!told.has(`${component}\n${path}`)) this.#remove(component, path);
      }
      return;
    }
    this.#hidden = el("details", { class: "hidden-list" }, el("summary", { text: `${news.hidden.length} not shown` }));
    for (const [component, secret, why] of news.hidden) {
      this.#hidden.append(el("p", {}, el("b", { text: component }), secret ? " is secret: " : ": ", visible(why)));
    }
    this.element.replaceChildren(this.#watchList, ...(news.hidden.length > 0 ? [this.#hidden] : []));
  }

  #set(component, path, text, changed) {
    let part = this.#components.get(component);
    if (!part) {
      const body = el("tbody");
      const element = el("details", { open: true, "data-component": component }, el("summary", { text: visible(component) }), el("table", {}, body));
      part = { element, body, rows: new Map() };
      this.#components.set(component, part);
      const next = [...this.#components.keys()].sort().find((name) => name > component && this.#components.get(name).element.isConnected);
      if (next) this.#components.get(next).element.before(element);
      else if (this.#hidden?.isConnected) this.#hidden.before(element);
      else this.element.append(element);
    }
    let row = part.rows.get(path);
    if (!row) {
      const value = el("td");
      const watch = el("button", { type: "button", class: "watch", "aria-pressed": "false", "aria-label": `Watch ${component} ${path}`, text: "watch", onclick: () => this.#toggle(component, path, watch) });
      row = { value, element: el("tr", { "data-path": path }, el("th", { scope: "row", text: path === "" ? "value" : visible(path) }), value, el("td", { class: "acts" }, watch)) };
      part.rows.set(path, row);
      part.body.append(row.element);
    }
    if (row.text === text) return;
    row.text = text;
    // A component without values is there, or not.
    setText(row.value, text === "" ? "there" : visible(text));
    if (!changed) return;
    row.value.classList.remove("changed");
    requestAnimationFrame(() => row.value.classList.add("changed"));
    this.#watched.get(`${component}\n${path}`)?.add(text);
  }

  #remove(component, path) {
    const part = this.#components.get(component);
    part?.rows.get(path)?.element.remove();
    part?.rows.delete(path);
    if (part && part.rows.size === 0) {
      part.element.remove();
      this.#components.delete(component);
    }
  }

  #toggle(component, path, button) {
    const key = `${component}\n${path}`;
    const held = this.#watched.get(key);
    button.setAttribute("aria-pressed", String(!held));
    if (held) {
      held.element.remove();
      this.#watched.delete(key);
      return;
    }
    const list = el("ol");
    const element = el("li", {}, el("b", { text: path === "" ? component : visible(`${component}.${path}`) }), list);
    const add = (text) => {
      list.prepend(el("li", {}, el("time", { class: "dim", text: new Date().toLocaleTimeString([], { hour12: false }) }), ` ${visible(text)}`));
      if (list.childElementCount > KEPT) list.lastElementChild.remove();
    };
    this.#watched.set(key, { element, add });
    this.#watchList.append(element);
    add(this.#components.get(component)?.rows.get(path)?.text ?? "");
  }
}
