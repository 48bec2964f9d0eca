// The page as a whole: which panel is shown, what the server is asked for it, and the header that says how it is.

import { begin as beginDialog, close as closeDialog } from "./dialog.js";
import { byId, count, duration, el, milliseconds, setText } from "./dom.js";
import { Entities } from "./entities.js";
import { Health } from "./health.js";
import { Log } from "./log.js";
import { WorldMap } from "./map.js";
import { Players } from "./players.js";
import { Scripts } from "./scripts.js";
import { forgetKey, isSignedIn, onSignOut, signOut, takeKey } from "./session.js";
import { Stream } from "./stream.js";

const PANELS = ["health", "map", "players", "entities", "scripts", "log"];
const VERDICTS = { well: "well", strained: "strained", ill: "ill" };
const STATES = { connecting: "connecting", live: "live", stalled: "no updates", lost: "not there", "signed-out": "signed out" };

await takeKey();
const stream = new Stream({ run: began, event: take, state: showState, signedOut });
const health = new Health();
const map = new WorldMap(ask);
const players = new Players();
const entities = new Entities(ask);
const scripts = new Scripts();
const log = new Log();
let panel = "health";
let isSignedOut = false;
let run = "";
beginDialog();
setText(byId("tunnel"), `ssh -L ${location.port}:127.0.0.1:${location.port} server`);
onSignOut(() => signedOut("You signed out in another tab."));
byId("sign-out").addEventListener("click", async () => {
  stream.want(null);
  await signOut().catch(() => {});
  signedOut("You signed out.");
});
addEventListener("hashchange", () => takeKey().then(route));
document.addEventListener("visibilitychange", ask);
route();

/** The panel of the address: `#map`, or `#entities=12v3` for one of its entities. */
function route() {
  const [wanted, entity] = location.hash.slice(1).split("=");
  panel = PANELS.includes(wanted) ? wanted : "health";
  for (const one of PANELS) {
    byId(`panel-${one}`).hidden = isSignedOut || one !== panel;
    if (one === panel) byId(`nav-${one}`).setAttribute("aria-current", "page");
    else byId(`nav-${one}`).removeAttribute("aria-current");
  }
  document.body.dataset.panel = panel;
  if (isSignedIn()) isSignedOut = false;
  byId("signed-out").hidden = !isSignedOut;
  byId(`panel-${panel}`).hidden = isSignedOut;
  if (isSignedOut) return;
  const known = /^\d+v\d+$/.test(entity ?? "");
  if (known && panel === "entities") entities.select(entity);
  if (known && panel === "map") map.selectSoon(entity);
  if (panel === "health") health.show();
  if (panel === "map") map.redraw();
  if (panel === "entities") entities.open();
  if (panel === "log") log.open();
  ask();
}

/** Asks for what is shown; a page that nobody sees asks for nothing. */
function ask() {
  if (isSignedOut || document.hidden) {
    stream.want(null);
    return;
  }
  const inspected = panel === "map" ? map.selected() : panel === "entities" ? entities.selected() : null;
  stream.want({
    health: true,
    players: panel === "players",
    map: panel === "map" ? map.request() : null,
    scripts: panel === "scripts",
    log: panel === "log",
    inspect: inspected,
  });
}

/** What comes now is of this run of the server. After a restart nothing of before means the same. */
function began(now) {
  if (run !== "" && run !== now) {
    health.reset();
    log.restarted();
    players.reset();
    scripts.reset();
    map.reset();
    entities.select(null);
    closeDialog();
  }
  run = now;
}

function take(event) {
  setText(byId("header-uptime"), duration(event.uptime_s));
  if (event.server) know(event.server);
  if (event.health) {
    showVerdict(event.health.now);
    health.take(event.health, panel === "health");
  }
  if (event.players) players.take(event.players);
  if (event.map) map.take(event.map);
  if (event.scripts) scripts.take(event.scripts);
  if (event.log) log.take(event.log);
  if (event.inspect) (panel === "map" ? map : entities)[panel === "map" ? "takeValues" : "take"](event.inspect);
}

function know(server) {
  setText(byId("server-name"), server.name);
  setText(byId("server-version"), `Decitick ${server.version}`);
  document.title = `${server.name} - Decitick`;
  map.know(server);
  players.allow(server.actions);
  scripts.allow(server.actions);
}

function showVerdict(now) {
  const verdict = byId("verdict");
  verdict.dataset.verdict = now.verdict;
  setText(byId("verdict-word"), VERDICTS[now.verdict] ?? now.verdict);
  setText(byId("header-players"), `${count(now.players)} / ${count(now.max_players)}`);
  setText(byId("verdict-note"), `99 of 100 ticks take less than ${milliseconds(now.tick.p99_ms)} of the 100 ms they have`);
  const why = byId("why");
  const told = now.why.join("\n");
  if (why.dataset.told === told) return;
  why.dataset.told = told;
  why.hidden = now.why.length === 0;
  why.dataset.verdict = now.verdict;
  why.replaceChildren(...now.why.map((text) => el("li", { text })));
}

function showState(state, since, why = "") {
  const connection = byId("connection");
  if (connection.dataset.state !== state) {
    connection.dataset.state = state;
    setText(byId("connection-word"), STATES[state]);
    document.body.dataset.state = state;
  }
  const banner = byId("banner");
  const seconds = Math.floor(since / 1000);
  if (state === "stalled") setText(banner, `No update for ${seconds} s: the server's tick hangs, or the connection to it. What you see is from before.`);
  if (state === "lost") {
    if (why) banner.dataset.why = why;
    setText(banner, `No updates: ${banner.dataset.why ?? "the server does not answer"}. Trying again for ${duration(seconds)} now; what you see is from before.`);
  }
  banner.hidden = state !== "stalled" && state !== "lost";
}

function signedOut(why) {
  isSignedOut = true;
  stream.want(null);
  forgetKey();
  setText(byId("signed-out-why"), why);
  showState("signed-out", 0);
  route();
}
