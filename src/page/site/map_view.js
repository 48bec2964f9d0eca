// Which part of the world a canvas shows, and how pointer, wheel and keys change it. North (+y) is up.

const CLOSEST = 40;
const FARTHEST = 0.01;

export class MapView {
  /** The place in the middle, in metres, and pixels a metre. */
  x = 0;
  y = 0;
  scale = 1;
  width = 1;
  height = 1;
  #changed;
  #pointers = new Map();
  #moved = 0;

  /** `changed()` asks for a new picture, `click(x, y)` and `over(x, y)` tell of places on the canvas, `key(key)` of other keys. */
  constructor(canvas, { changed, click, over, key }) {
    this.#changed = changed;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.#moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      over(event.offsetX, event.offsetY);
      if (this.#pointers.has(event.pointerId)) this.#drag(event);
    });
    const up = (event) => {
      if (!this.#pointers.delete(event.pointerId)) return;
      if (event.type === "pointerup" && this.#moved < 5) click(event.offsetX, event.offsetY);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => over(null, null));
    canvas.addEventListener("keydown", (event) => this.#key(event, key));
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toWorld(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  /** Zooms, with the place under these pixels staying where it is. */
  zoom(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toWorld(left, top);
    this.scale = Math.min(CLOSEST, Math.max(FARTHEST, this.scale * factor));
    this.x = x - (left - this.width / 2) / this.scale;
    this.y = y + (top - this.height / 2) / this.scale;
    this.#changed();
  }

  /** Shows a rectangle of the world. */
  fit([left, bottom, right, top]) {
    this.x = (left + right) / 2;
    this.y = (bottom + top) / 2;
    const across = Math.max(right - left, 20);
    const along = Math.max(top - bottom, 20);
    this.scale = Math.min(CLOSEST, Math.max(FARTHEST, 0.88 * Math.min(this.width / across, this.height / along)));
    this.#changed();
  }

  /** Moves so that a place is in the middle. */
  centre(x, y) {
    this.x = x;
    this.y = y;
    this.#changed();
  }

  #drag(event) {
    const before = [...this.#pointers.values()];
    const [left, top] = this.#pointers.get(event.pointerId);
    this.#pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    const now = [...this.#pointers.values()];
    this.#moved += Math.abs(event.offsetX - left) + Math.abs(event.offsetY - top);
    const share = 1 / now.length;
    this.x -= ((event.offsetX - left) * share) / this.scale;
    this.y += ((event.offsetY - top) * share) / this.scale;
    if (now.length === 2) {
      const span = ([one, other]) => Math.hypot(one[0] - other[0], one[1] - other[1]);
      const middle = now[0].map((value, index) => (value + now[1][index]) / 2);
      this.zoom(span(now) / Math.max(1, span(before)), ...middle);
    }
    this.#changed();
  }

  #key(event, other) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60 / this.scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[event.key]) this.centre(this.x + moves[event.key][0], this.y + moves[event.key][1]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (!other(event.key)) return;
    event.preventDefault();
  }
}
