// The picture of a map: zones, things, trails, bodies, names. What looks alike is drawn in one go, so that thousands of
// dots cost a few calls.

import { colour, visible } from "./dom.js";

/** How each kind looks: shape, colour, size in pixels. */
export const KINDS = {
  player: { title: "players", colour: "series-a", shape: "arrow", size: 5 },
  fallen: { title: "fallen", colour: "bad", shape: "cross", size: 4 },
  vehicle: { title: "vehicles", colour: "series-b", shape: "square", size: 4 },
  npc: { title: "npcs", colour: "series-c", shape: "circle", size: 3.5 },
  pickup: { title: "pickups", colour: "series-d", shape: "diamond", size: 4 },
  checkpoint: { title: "checkpoints", colour: "series-e", shape: "ring", size: 5 },
  object: { title: "objects", colour: "dim", shape: "square", size: 2 },
};

/** Names that are written at once. */
const NAMES = 60;
/** Trails that are drawn as long as they are; of more only the end of each. */
const LONG_TRAILS = 250;
const SHORT_TRAIL = 3;

const SHAPES = {
  circle(context, x, y, size) {
    context.moveTo(x + size, y);
    context.arc(x, y, size, 0, 2 * Math.PI);
  },
  square(context, x, y, size) {
    context.rect(x - size, y - size, 2 * size, 2 * size);
  },
  diamond(context, x, y, size) {
    context.moveTo(x, y - size);
    context.lineTo(x + size, y);
    context.lineTo(x, y + size);
    context.lineTo(x - size, y);
    context.closePath();
  },
  /** A dot with a beak where it looks: 0 is north and grows counter-clockwise. */
  arrow(context, x, y, size, heading) {
    const [ahead, aside] = [-Math.sin(heading), -Math.cos(heading)];
    context.moveTo(x + ahead * size * 2.2, y + aside * size * 2.2);
    context.lineTo(x - aside * size * 0.75, y + ahead * size * 0.75);
    context.lineTo(x + aside * size * 0.75, y - ahead * size * 0.75);
    context.closePath();
    context.moveTo(x + size, y);
    context.arc(x, y, size, 0, 2 * Math.PI);
  },
  cross(context, x, y, size) {
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
  },
  ring(context, x, y, size) {
    context.moveTo(x + size, y);
    context.arc(x, y, size, 0, 2 * Math.PI);
  },
};

/** Draws everything; how many dots and zones are in the picture. */
export function draw(context, view, scene) {
  const { width, height } = view;
  context.clearRect(0, 0, width, height);
  drawGrid(context, view);
  const zones = drawZones(context, view, scene.zones);
  drawSight(context, view, scene);
  drawTrails(context, view, scene);
  const dots = drawMarks(context, view, scene);
  drawNames(context, view, scene);
  drawScale(context, view);
  return { dots, zones };
}

/** A round number of metres that takes about so many pixels. */
function roundMetres(view, pixels) {
  const wanted = pixels / view.scale;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [5, 2, 1].map((step) => step * power).find((metres) => metres <= wanted) ?? power;
}

function drawGrid(context, view) {
  const step = roundMetres(view, 140);
  const [left, top] = view.toWorld(0, 0);
  const [right, bottom] = view.toWorld(view.width, view.height);
  context.strokeStyle = colour("--line");
  context.lineWidth = 1;
  context.beginPath();
  for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
    const at = Math.round(view.toScreen(x, 0)[0]) + 0.5;
    context.moveTo(at, 0);
    context.lineTo(at, view.height);
  }
  for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
    const at = Math.round(view.toScreen(0, y)[1]) + 0.5;
    context.moveTo(0, at);
    context.lineTo(view.width, at);
  }
  context.stroke();
}

function drawZones(context, view, zones) {
  context.strokeStyle = colour("--series-e");
  context.fillStyle = colour("--series-e");
  context.lineWidth = 1;
  let drawn = 0;
  context.beginPath();
  for (const [, shape, ...numbers] of zones.values()) {
    const [x, y] = view.toScreen(numbers[0], numbers[1]);
    if (shape === "sphere") {
      const radius = numbers[3] * view.scale;
      if (x + radius < 0 || x - radius > view.width || y + radius < 0 || y - radius > view.height) continue;
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    } else {
      const [right, top] = view.toScreen(numbers[3], numbers[4]);
      if (right < 0 || x > view.width || y < 0 || top > view.height) continue;
      context.rect(x, top, right - x, y - top);
    }
    drawn += 1;
  }
  context.globalAlpha = 0.1;
  context.fill();
  context.globalAlpha = 0.8;
  context.stroke();
  context.globalAlpha = 1;
  return drawn;
}

/** How far players see: the selected one, or all of them. */
function drawSight(context, view, { marks, selected, allSights, radius }) {
  if (!radius) return;
  context.strokeStyle = colour("--series-a");
  context.fillStyle = colour("--series-a");
  for (const mark of marks.values()) {
    const mine = mark.key === selected;
    if (!(mark.kind === "player" || mark.kind === "fallen") || !(mine || allSights)) continue;
    const [x, y] = view.toScreen(mark.x, mark.y);
    context.beginPath();
    context.arc(x, y, radius * view.scale, 0, 2 * Math.PI);
    if (mine) {
      context.globalAlpha = 0.08;
      context.fill();
    }
    context.globalAlpha = mine ? 0.7 : 0.15;
    context.stroke();
  }
  context.globalAlpha = 1;
}

function drawTrails(context, view, { marks, kinds, selected }) {
  const drawn = [];
  for (const mark of marks.values()) {
    if (mark.trail.length < 2 || !kinds.has(mark.kind)) continue;
    const [x, y] = view.toScreen(mark.x, mark.y);
    if (x < -200 || x > view.width + 200 || y < -200 || y > view.height + 200) continue;
    drawn.push([mark, x, y]);
  }
  context.lineWidth = 1;
  context.strokeStyle = colour("--trail");
  context.beginPath();
  for (const [mark, x, y] of drawn) {
    const from = drawn.length > LONG_TRAILS && mark.key !== selected ? Math.max(0, mark.trail.length - SHORT_TRAIL) : 0;
    context.moveTo(x, y);
    for (let index = mark.trail.length - 1; index >= from; index -= 1) {
      context.lineTo(...view.toScreen(mark.trail[index].x, mark.trail[index].y));
    }
  }
  context.stroke();
}

function drawMarks(context, view, { marks, kinds, selected }) {
  let drawn = 0;
  for (const [kind, { shape, size, colour: tint }] of Object.entries(KINDS).reverse()) {
    if (!kinds.has(kind)) continue;
    context.fillStyle = colour(`--${tint}`);
    context.strokeStyle = context.fillStyle;
    context.lineWidth = 2;
    context.beginPath();
    for (const mark of marks.values()) {
      if (mark.kind !== kind) continue;
      const [x, y] = view.toScreen(mark.x, mark.y);
      if (x < -20 || x > view.width + 20 || y < -20 || y > view.height + 20) continue;
      SHAPES[shape](context, x, y, size, mark.heading);
      drawn += 1;
    }
    if (shape === "cross" || shape === "ring") context.stroke();
    else context.fill();
  }
  const mark = marks.get(selected);
  if (mark) {
    context.strokeStyle = colour("--text");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...view.toScreen(mark.x, mark.y), 11, 0, 2 * Math.PI);
    context.stroke();
  }
  return drawn;
}

/** Names of players in the picture, when they are few; and always of what is selected or under the pointer. */
function drawNames(context, view, { marks, kinds, selected, hovered }) {
  const named = [];
  for (const mark of marks.values()) {
    if (mark.kind !== "player" || !kinds.has("player") || mark.key === hovered || mark.key === selected) continue;
    const [x, y] = view.toScreen(mark.x, mark.y);
    if (x < 0 || x > view.width || y < 0 || y > view.height) continue;
    named.push([mark, x, y]);
    if (named.length > NAMES) break;
  }
  if (named.length > NAMES) named.length = 0;
  for (const key of new Set([selected, hovered])) {
    const mark = marks.get(key);
    if (mark) named.push([mark, ...view.toScreen(mark.x, mark.y)]);
  }
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = colour("--panel");
  context.fillStyle = colour("--text");
  for (const [mark, x, y] of named) {
    const text = mark.kind === "player" || mark.kind === "fallen" ? visible(mark.label) : `${mark.kind} ${mark.label}`;
    context.strokeText(text, x, y - 12);
    context.fillText(text, x, y - 12);
  }
}

function drawScale(context, view) {
  const metres = roundMetres(view, 120);
  const length = metres * view.scale;
  const y = view.height - 14;
  context.strokeStyle = colour("--text");
  context.fillStyle = colour("--text");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(12, y - 4);
  context.lineTo(12, y);
  context.lineTo(12 + length, y);
  context.lineTo(12 + length, y - 4);
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.font = "12px system-ui, sans-serif";
  context.fillText(metres >= 1000 ? `${metres / 1000} km` : `${metres} m`, 18, y - 4);
}
