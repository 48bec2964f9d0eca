// Acting: what is to be done is said again and asked for, done by the server's console, and answered in a line.

import { byId, name, setText } from "./dom.js";
import { call } from "./rpc.js";

let onAct = null;

/** Whether a question is open: what it is about should stay where it is meanwhile. */
export const isOpen = () => byId("act-dialog").open;

function open({ title, about, confirm, warning = "", reason = false, until = false }, act) {
  setText(byId("act-title"), title);
  byId("act-about").replaceChildren(...about);
  setText(byId("act-warning"), warning);
  byId("act-reason").value = "";
  byId("act-reason").maxLength = until ? 20 : 64;
  byId("act-reason-label").hidden = !reason;
  byId("act-duration-label").hidden = !until;
  setText(byId("act-confirm"), confirm);
  onAct = act;
  byId("act-dialog").showModal();
  byId(reason ? "act-reason" : "act-cancel").focus();
}

/** Asks whether to kick the player of a row. */
export function kick(entity, id, playerName) {
  open({ title: "Kick", about: [name(playerName), `, player ${id}`], confirm: "Kick", reason: true }, () => ({
    action: "kick",
    entity,
    reason: byId("act-reason").value,
  }));
}

/** Asks whether to ban the address of a row. */
export function ban(address, id, playerName) {
  const ip = address.replace(/:\d+$/, "").replace(/^\[|(%[^\]]*)?\]$/g, "");
  open(
    {
      title: "Ban",
      about: [name(playerName), `, player ${id}, at ${ip}`],
      confirm: "Ban",
      warning: "The ban is of the address: everybody who plays from there is out, and stays out.",
      reason: true,
      until: true,
    },
    () => ({
      action: "ban",
      address: ip,
      seconds: byId("act-duration").value === "" ? null : Number(byId("act-duration").value),
      reason: byId("act-reason").value,
    }),
  );
}

/** Asks whether to start, stop or restart a gamemode. */
export function script(action, resource) {
  const verb = action[0].toUpperCase() + action.slice(1);
  const warning = action === "stop" ? "Gamemodes that need it stop too." : action === "restart" ? "What it holds in `state` begins anew." : "";
  open({ title: `${verb} a gamemode`, about: [name(resource)], confirm: verb, warning }, () => ({ action, resource }));
}

/** Takes the question back. */
export function close() {
  onAct = null;
  byId("act-dialog").close();
}

let hiding = 0;

/** Says a line at the foot of the page for a while. */
export function say(text, bad = false) {
  const line = byId("act-result");
  line.hidden = false;
  line.classList.toggle("bad", bad);
  setText(line, text);
  clearTimeout(hiding);
  hiding = setTimeout(() => (line.hidden = true), bad ? 20_000 : 8_000);
}

async function confirmed() {
  const action = onAct?.();
  onAct = null;
  byId("act-dialog").close();
  // What was pressed may be gone by now: the next key is to do something near it.
  if (document.activeElement === document.body) document.querySelector("main > section:not([hidden]) input, #main").focus();
  if (!action) return;
  say("…");
  try {
    const { message } = await call("decitick.act", action);
    say(message);
  } catch (error) {
    say(error.message, true);
  }
}

/** Listens to the dialog. */
export function begin() {
  byId("act-form").addEventListener("submit", (event) => {
    event.preventDefault();
    confirmed();
  });
  byId("act-cancel").addEventListener("click", () => byId("act-dialog").close());
}
