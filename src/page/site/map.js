// Who and what is where: the map of one area and dimension, with what is selected beside it.

import { ban, kick } from "./dialog.js";
import { byId, count, counted, el, fitCanvas, name, onColours, setText } from "./dom.js";
import { draw, KINDS } from "./map_draw.js";
import { MapView } from "./map_view.js";
import { Rows } from "./tables.js";
import { Values } from "./values.js";

/** Between two updates a dot goes from one place to the next. */
const UPDATE_MS = 500;
const TRAIL_MS = 10_000;
/** Who looked elsewhere for so long does not know the way that something went meanwhile. */
const AWAY_MS = 1500;
/** A dot that goes so far at once was put there, and did not walk. */
const JUMP_METRES = 100;
const NEAR_PIXELS = 14;
/** A machine that draws slowly draws less often: at most this share of its time. */
const DRAWING = 1 / 3;

export class WorldMap {
  #canvas = byId("map-canvas");
  #view;
  #rows = new Rows();
  #zones = new Rows();
  #marks = new Map();
  #kinds = new Set(Object.keys(KINDS));
  #spaces = [];
  #space = { area: 0, dimension: 0 };
  #selected = null;
  #wantedSelection = null;
  #hovered = null;
  #fitted = false;
  #allSights = false;
  #radius = 0;
  #actions = false;
  #movingUntil = 0;
  #told = 0;
  #queued = false;
  #restUntil = 0;
  #frames = 0;
  #values = new Values();
  #chosen;
  #still = matchMedia("(prefers-reduced-motion: reduce)");

  /** `chosen()`: something else is to be asked for. */
  constructor(chosen) {
    this.#chosen = chosen;
    this.#view = new MapView(this.#canvas, {
      changed: () => this.redraw(),
      click: (x, y) => this.select(this.#nearest(x, y)),
      over: (x, y) => this.#over(x, y),
      key: (key) => this.#key(key),
    });
    new ResizeObserver(() => this.redraw()).observe(this.#canvas);
    onColours(() => this.redraw());
    byId("map-in").addEventListener("click", () => this.#view.zoom(1.5));
    byId("map-out").addEventListener("click", () => this.#view.zoom(1 / 1.5));
    byId("map-fit").addEventListener("click", () => this.#fit());
    for (const id of ["map-area", "map-dimension"]) byId(id).addEventListener("change", () => this.#choose());
    this.#legend();
    this.#showSelected();
    globalThis.decitickPage = { mapPoint: (key) => this.#point(key), frames: () => this.#frames };
  }

  /** What the map asks for. */
  request() {
    return this.#space;
  }

  selected() {
    return this.#selected;
  }

  know({ radius, actions }) {
    this.#radius = radius;
    this.#actions = actions;
    this.#showSelected();
  }

  /** Forgets everything: what comes now is of another run of the server. */
  reset() {
    this.#wantedSelection = null;
    this.select(null);
    this.take({ reset: true, zones: { reset: true } });
    this.#fitted = false;
  }

  take(news) {
    const now = performance.now();
    if (now - this.#told > AWAY_MS) this.#stand();
    this.#told = now;
    this.#rows.take(news, {
      changed: (key, [, kind, label, x, y, z, heading]) => this.#place(key, { kind, label, z }, x, y, heading, now),
      gone: (key) => {
        this.#marks.delete(key);
        if (key === this.#hovered) this.#hovered = null;
      },
    });
    for (const [key, x, y, z, heading] of news.moves ?? []) this.#place(key, { z }, x, y, heading, now);
    if (news.zones) this.#zones.take(news.zones);
    if (news.spaces) this.#showSpaces(news.spaces);
    if (!this.#fitted && !news.more && this.#rows.rows.size > 0) this.#fit();
    if (this.#wantedSelection && this.#marks.has(this.#wantedSelection)) {
      const { x, y } = this.#marks.get(this.#wantedSelection);
      this.select(this.#wantedSelection);
      this.#view.centre(x, y);
    }
    this.#counts();
    this.redraw();
  }

  takeValues(news) {
    this.#values.take(news);
    if (news.ended) setText(byId("map-selected").querySelector(".place") ?? el("p"), "gone");
  }

  /** Selects something when it comes into sight. */
  selectSoon(key) {
    this.#wantedSelection = key;
    const mark = this.#marks.get(key);
    if (mark) {
      this.select(key);
      this.#view.centre(mark.x, mark.y);
    }
  }

  select(key) {
    this.#wantedSelection = null;
    if (key === this.#selected) return;
    this.#selected = key;
    this.#showSelected();
    this.redraw();
    this.#chosen();
  }

  #place(key, facts, x, y, heading, now) {
    const mark = this.#marks.get(key);
    if (!mark) {
      this.#marks.set(key, { key, ...facts, x, y, heading, fromX: x, fromY: y, toX: x, toY: y, since: 0, trail: [] });
      return;
    }
    Object.assign(mark, facts);
    mark.heading = heading;
    if (x === mark.toX && y === mark.toY) {
      mark.away = false;
      return;
    }
    const jumps = mark.away || Math.hypot(x - mark.toX, y - mark.toY) > JUMP_METRES;
    mark.away = false;
    if (jumps) mark.trail.length = 0;
    else mark.trail.push({ x: mark.toX, y: mark.toY, at: now });
    [mark.fromX, mark.fromY] = jumps || this.#still.matches ? [x, y] : [mark.x, mark.y];
    [mark.toX, mark.toY, mark.since] = [x, y, now];
    this.#movingUntil = now + TRAIL_MS;
  }

  /** Every dot stands where it was told to be, and its way is forgotten. */
  #stand() {
    for (const mark of this.#marks.values()) {
      [mark.x, mark.y, mark.since] = [mark.toX, mark.toY, 0];
      mark.trail.length = 0;
      mark.away = true;
    }
  }

  /** Moves every dot to where it is by now; whether anything still goes on. */
  #step(now) {
    for (const mark of this.#marks.values()) {
      if (mark.since > 0) {
        const share = Math.min(1, (now - mark.since) / UPDATE_MS);
        mark.x = mark.fromX + (mark.toX - mark.fromX) * share;
        mark.y = mark.fromY + (mark.toY - mark.fromY) * share;
        if (share === 1) mark.since = 0;
      }
      while (mark.trail.length > 0 && now - mark.trail[0].at > TRAIL_MS) mark.trail.shift();
    }
    return now < this.#movingUntil;
  }

  /** Draws with the next frame, and with those after it while something moves. */
  redraw() {
    if (this.#queued || this.#canvas.offsetParent === null) return;
    this.#queued = true;
    const frame = (now) => {
      if (now < this.#restUntil) {
        requestAnimationFrame(frame);
        return;
      }
      this.#queued = false;
      this.#frames += 1;
      const begun = performance.now();
      const goesOn = this.#step(now);
      this.#draw();
      const took = performance.now() - begun;
      this.#restUntil = took > 8 ? performance.now() + took * (1 / DRAWING - 1) : 0;
      if (goesOn && !this.#still.matches) this.redraw();
    };
    requestAnimationFrame(frame);
  }

  #draw() {
    fitCanvas(this.#canvas);
    this.#view.width = this.#canvas.clientWidth;
    this.#view.height = this.#canvas.clientHeight;
    const ratio = devicePixelRatio || 1;
    const context = this.#canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { dots, zones } = draw(context, this.#view, {
      marks: this.#marks,
      zones: this.#zones.rows,
      kinds: this.#kinds,
      selected: this.#selected,
      hovered: this.#hovered,
      allSights: this.#allSights,
      radius: this.#radius,
    });
    this.#canvas.dataset.dots = dots;
    this.#canvas.dataset.zones = zones;
    this.#showPlace();
  }

  #fit() {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const bodies = [...this.#marks.values()].filter((mark) => mark.kind === "player" || mark.kind === "fallen");
    for (const { toX, toY } of bodies.length > 0 ? bodies : this.#marks.values()) {
      box[0] = Math.min(box[0], toX);
      box[1] = Math.min(box[1], toY);
      box[2] = Math.max(box[2], toX);
      box[3] = Math.max(box[3], toY);
    }
    if (!Number.isFinite(box[0])) return;
    this.#fitted = true;
    this.#view.width = this.#canvas.clientWidth || 1;
    this.#view.height = this.#canvas.clientHeight || 1;
    this.#view.fit(box);
  }

  #nearest(left, top) {
    let [found, least] = [null, NEAR_PIXELS];
    for (const mark of this.#marks.values()) {
      if (!this.#kinds.has(mark.kind)) continue;
      const [x, y] = this.#view.toScreen(mark.x, mark.y);
      // Of two that are as near a body is meant, and not what it stands on.
      const far = Math.hypot(x - left, y - top) + (mark.kind === "player" ? 0 : 3);
      if (far < least) [found, least] = [mark.key, far];
    }
    return found;
  }

  #point(key) {
    const mark = this.#marks.get(key);
    if (!mark) return null;
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = this.#view.toScreen(mark.x, mark.y);
    return { x: box.left + x, y: box.top + y };
  }

  #over(left, top) {
    const hovered = left === null ? null : this.#nearest(left, top);
    if (left === null) setText(byId("map-under"), "");
    else setText(byId("map-under"), this.#view.toWorld(left, top).map((metres) => `${metres.toFixed(0)}`).join(", "));
    this.#canvas.classList.toggle("pointing", hovered !== null);
    if (hovered === this.#hovered) return;
    this.#hovered = hovered;
    this.redraw();
  }

  #key(key) {
    if (key === "f" || key === "F") this.#fit();
    else if (key === "Escape") this.select(null);
    else if (key === "[" || key === "]") this.#walk(key === "]" ? 1 : -1);
    else return false;
    return true;
  }

  #walk(step) {
    const players = [...this.#marks.values()].filter((mark) => mark.kind === "player").sort((a, b) => (a.label < b.label ? -1 : 1));
    if (players.length === 0) return;
    const at = players.findIndex((mark) => mark.key === this.#selected);
    const next = players[(at + step + players.length + (at < 0 && step < 0 ? 1 : 0)) % players.length];
    this.select(next.key);
    this.#view.centre(next.x, next.y);
  }

  #choose() {
    this.#space = { area: Number(byId("map-area").value), dimension: Number(byId("map-dimension").value) };
    this.#fitted = false;
    this.#marks.clear();
    this.#rows = new Rows();
    this.#zones = new Rows();
    this.#showSpaces(this.#spaces);
    this.select(null);
    this.#chosen();
    this.redraw();
  }

  #showSpaces(spaces) {
    this.#spaces = spaces;
    const sums = (column) => {
      const counts = new Map([[this.#space[column === 0 ? "area" : "dimension"], [0, 0]]]);
      for (const space of spaces) {
        if (column === 0 && space[1] !== this.#space.dimension) continue;
        const [players, things] = counts.get(space[column]) ?? [0, 0];
        counts.set(space[column], [players + space[2], things + space[3]]);
      }
      return [...counts].sort((a, b) => a[0] - b[0]);
    };
    const fill = (id, column, chosen) => {
      const options = sums(column).map(([value, [players, things]]) =>
        el("option", { value: String(value), text: `${value}${column === 0 && value === 0 ? " (outside)" : ""}: ${counted(players, "player")}, ${counted(things, "thing")}` }),
      );
      byId(id).replaceChildren(...options);
      byId(id).value = String(chosen);
    };
    if (!byId("map-area").matches(":focus")) fill("map-area", 0, this.#space.area);
    if (!byId("map-dimension").matches(":focus")) fill("map-dimension", 1, this.#space.dimension);
  }

  #counts() {
    const counts = new Map();
    for (const { kind } of this.#marks.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const box of byId("map-legend").querySelectorAll("[data-kind]")) {
      setText(box.querySelector(".count"), count(counts.get(box.dataset.kind) ?? 0));
    }
    const bodies = (counts.get("player") ?? 0) + (counts.get("fallen") ?? 0);
    const told = [counted(bodies, "player"), counted(this.#marks.size - bodies, "thing"), counted(this.#zones.rows.size, "zone")].join(", ");
    setText(byId("map-counts"), told);
    this.#canvas.setAttribute("aria-label", `Map of area ${this.#space.area}, dimension ${this.#space.dimension}: ${told}`);
  }

  #legend() {
    const boxes = Object.entries(KINDS).map(([kind, { title, colour: tint }]) => {
      const box = el("input", { type: "checkbox", checked: true, onchange: () => {
        if (box.checked) this.#kinds.add(kind);
        else this.#kinds.delete(kind);
        this.redraw();
      } });
      return el("li", { "data-kind": kind }, el("label", {}, box, el("span", { class: "key", "data-colour": tint }), `${title} `, el("span", { class: "count dim" })));
    });
    const sights = el("input", { type: "checkbox", onchange: () => {
      this.#allSights = sights.checked;
      this.redraw();
    } });
    byId("map-legend").append(...boxes, el("li", {}, el("label", {}, sights, "how far everybody sees")));
  }

  #showSelected() {
    const side = byId("map-selected");
    const key = this.#selected;
    this.#values.begin(key);
    if (!key) {
      side.replaceChildren(el("p", { class: "dim", text: "Click a dot to look into it." }));
      return;
    }
    const mark = this.#marks.get(key);
    const acts = el("p", { class: "buttons" }, el("a", { class: "button", href: `#entities=${key}`, text: "Open in Entities" }));
    if (this.#actions && (mark?.kind === "player" || mark?.kind === "fallen")) {
      acts.append(el("button", { type: "button", "data-act": "kick", text: "Kick", onclick: () => kick(key, this.#values.id() ?? "", mark.label) }));
      acts.append(el("button", { type: "button", "data-act": "ban", text: "Ban", onclick: () => this.#values.address() && ban(this.#values.address(), this.#values.id() ?? "", mark.label) }));
    }
    const title = mark?.kind === "player" || mark?.kind === "fallen" ? name(mark.label) : `${mark?.kind ?? "entity"} ${mark?.label ?? ""}`;
    side.replaceChildren(
      el("h3", {}, title, el("span", { class: "dim", text: ` ${key}` })),
      el("p", { class: "place dim" }),
      acts,
      this.#values.element,
      el("button", { type: "button", class: "close", "aria-label": "Select nothing", text: "×", onclick: () => this.select(null) }),
    );
    this.#showPlace();
  }

  #showPlace() {
    const place = byId("map-selected").querySelector(".place");
    const mark = this.#marks.get(this.#selected);
    if (!place) return;
    setText(place, mark ? `at ${[mark.toX, mark.toY, mark.z].map((metres) => metres.toFixed(1)).join(", ")}` : "not in this area and dimension, or gone");
  }
}
