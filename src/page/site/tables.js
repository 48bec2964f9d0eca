// Rows that the server tells of by what changed.

export class Rows {
  /** The rows by their keys; each row is the list that came, its key first. */
  rows = new Map();

  /** Rows from before a reset that were not told of again yet. */
  #old = null;

  /**
   * Takes in what is new; calls `changed(key, row)` for each row that came or changed and `gone(key)` for each that went.
   * After a reset what is not told of again goes once everything was told, so that nothing flickers.
   */
  take(news, { changed = () => {}, gone = () => {} } = {}) {
    if (news.reset) this.#old = new Set(this.rows.keys());
    const remove = (key) => {
      this.#old?.delete(key);
      if (this.rows.delete(key)) gone(key);
    };
    for (const key of news.gone ?? []) remove(key);
    for (const row of news.rows ?? []) {
      this.#old?.delete(row[0]);
      this.rows.set(row[0], row);
      changed(row[0], row);
    }
    if (this.#old && !news.more) {
      for (const key of [...this.#old]) remove(key);
      this.#old = null;
    }
  }
}

/** Puts the rows of a table body into an order, and moves only those that stand elsewhere. */
export function arrange(body, elements) {
  let place = body.firstElementChild;
  for (const element of elements) {
    if (element === place) {
      place = place.nextElementSibling;
    } else {
      body.insertBefore(element, place);
    }
  }
}
