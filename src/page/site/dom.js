// Elements, and how values are written for people. Texts of others only ever become text.

/** An element with attributes (`text` is its text, `onclick` and the like listen) and children. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Sets a text only when it differs: a selection of the reader stays, and nothing is laid out anew. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Controls, format characters and line separators are shown as what they are. */
export function visible(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}

/** A name that somebody chose: it cannot turn the direction of what stands beside it. */
export function name(text) {
  return el("bdi", { text: visible(text) });
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value) => whole.format(value);

/** `1 thing`, `2 things`. */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

export function milliseconds(value) {
  if (value === null || value === undefined) return "-";
  if (value === 0) return "0 ms";
  return `${value < 10 ? value.toFixed(value < 1 ? 2 : 1) : value.toFixed(0)} ms`;
}

const SIZES = ["B", "kB", "MB", "GB", "TB"];

export function bytes(value) {
  if (value === null || value === undefined) return "-";
  let size = 0;
  while (value >= 1000 && size < SIZES.length - 1) {
    value /= 1000;
    size += 1;
  }
  return `${size > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)} ${SIZES[size]}`;
}

export function duration(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** `drop_reason_name` as words. */
export const words = (text) => text.replaceAll("_", " ");

/** A colour of the style sheet, as canvases need it. */
export function colour(variable) {
  return getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
}

const schemeListeners = [];

/** Calls back when the colours change. */
export function onColours(listener) {
  schemeListeners.push(listener);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const listener of schemeListeners) listener();
});

/** Makes a canvas as many pixels as it takes on the screen; whether that changed. */
export function fitCanvas(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}
