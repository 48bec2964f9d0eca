// Who is signed in: the cookie is the browser's affair, the key beside it is kept here, for this origin alone.

const KEPT = "decitick.key";

/** Takes the key out of the address that a link led to, so that it is in no history and no bookmark. */
export function takeKey() {
  const found = /^#key=([0-9a-f]{64})$/.exec(location.hash);
  if (!found) return;
  localStorage.setItem(KEPT, found[1]);
  history.replaceState(null, "", "/#health");
}

/** The headers of a question. */
export function headers() {
  return { "Content-Type": "application/json", "X-Decitick-Key": localStorage.getItem(KEPT) ?? "" };
}

export async function signOut() {
  try {
    await fetch("/leave", { method: "POST", headers: headers() });
  } finally {
    localStorage.removeItem(KEPT);
  }
}
