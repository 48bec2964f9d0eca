// Finding entities by what they have, in the words of `entities` at the console, and looking into one of them.

import { byId, count, el, setText, visible } from "./dom.js";
import { call } from "./rpc.js";
import { Values } from "./values.js";

const EXAMPLES = ["Connection", "Vitals where Vitals.health < 50", "ThingId", "ZoneId", "Motion without ThingId limit 20"];
/** Components that a row names; the rest is counted. */
const NAMED = 6;
const COMPLETE_MS = 200;
/** Where what is selected stands below the list, and not beside it. */
const narrow = matchMedia("(max-width: 62rem)");

export class Entities {
  #selected = null;
  #values = new Values();
  #chosen;
  #asked = 0;
  #timer = 0;

  /** `chosen()`: something else is to be asked for. */
  constructor(chosen) {
    this.#chosen = chosen;
    byId("entities-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#find();
    });
    byId("entities-query").addEventListener("input", () => this.#completeSoon());
    for (const example of EXAMPLES) {
      byId("entities-examples").append(el("button", { type: "button", class: "link", text: example, onclick: () => {
        byId("entities-query").value = example;
        this.#find();
      } }), " ");
    }
    this.#show();
  }

  selected() {
    return this.#selected;
  }

  select(entity) {
    if (entity === this.#selected) return;
    this.#selected = entity;
    this.#show();
    this.#mark();
    this.#chosen();
    if (narrow.matches) byId("inspect").scrollIntoView();
  }

  take(news) {
    this.#values.take(news);
    if (news.is) setText(byId("inspect").querySelector(".what") ?? el("p"), visible(news.is));
  }

  /** What to show when the panel is opened: everybody who is connected. */
  open() {
    if (byId("entities-query").value !== "") return;
    byId("entities-query").value = EXAMPLES[0];
    this.#find();
  }

  #show() {
    this.#values.begin(this.#selected);
    if (!this.#selected) {
      byId("inspect").replaceChildren(el("p", { class: "dim", text: "Choose an entity to see every value of it, as it changes." }));
      return;
    }
    byId("inspect").replaceChildren(el("h3", {}, el("span", { class: "what" }), el("span", { class: "dim", text: ` ${this.#selected}` })), this.#values.element);
  }

  #mark() {
    for (const row of byId("entities-results").tBodies[0].rows) {
      row.toggleAttribute("aria-current", row.dataset.entity === this.#selected);
    }
  }

  async #find() {
    const asked = (this.#asked += 1);
    const told = byId("entities-told");
    told.classList.remove("bad");
    setText(told, "…");
    try {
      const found = await call("decitick.command", { command: `entities ${byId("entities-query").value}` });
      if (asked === this.#asked) this.#list(found);
    } catch (error) {
      if (asked !== this.#asked) return;
      told.classList.add("bad");
      setText(told, error.message);
      byId("entities-results").tBodies[0].replaceChildren();
    }
  }

  #list({ entities, matched, more, cut }) {
    const rows = entities.map(({ entity, is, components }) => {
      const named = components.slice(0, NAMED).join(", ");
      const rest = components.length > NAMED ? `, ${components.length - NAMED} more` : "";
      const button = el("button", { type: "button", class: "link", text: entity, onclick: () => this.select(entity) });
      return el("tr", { "data-entity": entity }, el("td", {}, button), el("th", { scope: "row" }, el("bdi", { text: visible(is) })), el("td", { class: "dim", title: components.join(", "), text: named + rest }));
    });
    byId("entities-results").tBodies[0].replaceChildren(...rows);
    this.#mark();
    const words = [`${count(matched)} found`];
    if (more > 0) words.push(`${count(more)} more than shown: add "limit ${Math.min(1000, entities.length + more)}"`);
    if (cut) words.push("not every entity was looked at: the question costs too much");
    setText(byId("entities-told"), words.join("; "));
  }

  #completeSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#complete(), COMPLETE_MS);
  }

  async #complete() {
    const text = byId("entities-query").value;
    const line = `entities ${text}`;
    try {
      const { start, candidates } = await call("decitick.command", { command: `complete ${line}` });
      if (byId("entities-query").value !== text) return;
      const before = new TextDecoder().decode(new TextEncoder().encode(line).slice(0, start)).slice("entities ".length);
      byId("entities-words").replaceChildren(...candidates.slice(0, 30).map(({ text: word }) => el("option", { value: before + word })));
    } catch {
      // Without suggestions one can still type.
    }
  }
}
