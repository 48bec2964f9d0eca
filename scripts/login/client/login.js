// The login page. It runs inside a game client, which gives pages of the server's own files `window.decitick`
// (docs/login.md): `send(value)` says something to the resource, `ondata` is called with what the resource says, and
// `assertion(token)` hands the server what an identity site signed.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const game = window.decitick;
  const form = at("form");

  function say(text, isError) {
    at("status").textContent = text;
    at("status").classList.toggle("error", Boolean(isError));
  }

  function lock(locked) {
    for (const field of document.querySelectorAll("input, button")) field.disabled = locked;
  }

  // What the server offers; it outlives the way to the website and back.
  function offer(choices) {
    sessionStorage.setItem("choices", JSON.stringify(choices));
    at("web").hidden = !choices.web;
    at("remember-row").hidden = !choices.remember;
  }

  function go(site, server, ticket) {
    const here = location.origin + location.pathname;
    const target = new URL(site);
    target.searchParams.set("server", server);
    target.searchParams.set("ticket", ticket);
    target.searchParams.set("return", here);
    location.assign(target.href);
  }

  function open(text, isError, field) {
    say(text, isError);
    lock(false);
    at(field).focus();
  }

  function hear(data) {
    switch (data && data.state) {
      case "ask":
        offer({ web: data.web === true, remember: data.remember === true });
        open("Who are you?", false, "account");
        break;
      case "error":
      case "wait":
        open(data.text, true, at("account").value ? "password" : "account");
        break;
      case "web":
        say("Going to the website …");
        go(data.site, data.server, data.ticket);
        break;
    }
  }

  function ask(what) {
    lock(true);
    say("One moment …");
    game.send(what);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter ? event.submitter.value : "login";
    ask({ do: button, account: at("account").value, password: at("password").value, remember: at("remember").checked });
    at("password").value = "";
  });
  at("web").addEventListener("click", () => ask({ do: "web", remember: at("remember").checked }));

  lock(true);
  if (!game) {
    form.hidden = true;
    say("This page works inside the game only.", true);
    return;
  }
  game.ondata = hear;
  // Back from the website: the token is for the server alone, and not for the history.
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  const choices = sessionStorage.getItem("choices");
  if (choices) offer(JSON.parse(choices));
  if (token) {
    history.replaceState(null, "", location.pathname);
    say("One moment …");
    game.assertion(token);
  } else if (choices) {
    // Back without one.
    open("Who are you?", false, "account");
  }
})();
