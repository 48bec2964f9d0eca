// Who is signed in: the cookie is the browser's affair, the key beside it is kept here, for this origin alone.

const KEPT = "decitick.key";

/**
 * Takes the key out of the address that a link led to, so that it is in no history and no bookmark. Any page can lead
 * here with a key of its own: only one that the server takes replaces the one that is kept.
 */
export async function takeKey() {
  const found = /^#key=([0-9a-f]{64})$/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", "/#health");
  const question = { jsonrpc: "2.0", id: 1, method: "rpc.discover" };
  try {
    const tried = await fetch("/rpc", { method: "POST", headers: headers(found[1]), body: JSON.stringify(question) });
    if (tried.ok || !isSignedIn()) localStorage.setItem(KEPT, found[1]);
  } catch {
    // Without a server there is nothing to sign in to.
  }
}

/** Whether there is a key; whether it is good the server says. */
export const isSignedIn = () => localStorage.getItem(KEPT) !== null;

export const forgetKey = () => localStorage.removeItem(KEPT);

/** Calls back when another tab signed out. */
export function onSignOut(listener) {
  addEventListener("storage", (event) => {
    if (event.key === KEPT && event.newValue === null) listener();
  });
}

/** The headers of a question. */
export function headers(key = localStorage.getItem(KEPT) ?? "") {
  return { "Content-Type": "application/json", "X-Decitick-Key": key };
}

export async function signOut() {
  try {
    await fetch("/leave", { method: "POST", headers: headers() });
  } finally {
    forgetKey();
  }
}
