// The table of all cells: search, filters and order, which are read from the address and written to it.

class Cells {
  constructor(section) {
    this.section = section;
    this.form = section.querySelector("form");
    this.count = section.querySelector("output");
    this.body = section.querySelector("tbody");
    this.keys = [...section.querySelectorAll("thead th")].map((head) => head.dataset.key);
    this.rows = [...this.body.rows].map((element) => this.read(element));
    this.shown = this.rows;
    this.sort = "";
    this.heads = this.offerOrder();
    this.form.hidden = false;
    this.form.addEventListener("input", () => this.changed());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", () => setTimeout(() => this.cleared()));
  }

  read(element) {
    const values = {};
    [...element.cells].forEach((cell, at) => {
      const text = cell.textContent.trim();
      values[this.keys[at]] = "v" in cell.dataset ? Number(cell.dataset.v) : text;
    });
    values.status = element.dataset.status;
    const words = ["kernel", "task", "platform", "evidence", "outcome"].map((key) => values[key]);
    return { element, values, text: words.join(" ").toLowerCase() };
  }

  offerOrder() {
    return [...this.section.querySelectorAll("thead th")].map((head) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const key = head.dataset.key;
        // figures start with the largest, words with the first letter; a third click restores the run's order
        const order = head.classList.contains("number") ? [`-${key}`, key, ""] : [key, `-${key}`, ""];
        this.sort = order[(order.indexOf(this.sort) + 1) % 3];
        this.changed();
      });
      return head;
    });
  }

  // What is chosen, as the address has it.
  get view() {
    const view = new URLSearchParams();
    for (const { name, value } of this.form.elements) if (name && value) view.set(name, value);
    if (this.sort) view.set("sort", this.sort);
    return view;
  }

  set view(view) {
    for (const field of this.form.elements) {
      if (!field.name) continue;
      field.value = view.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = ""; // a choice that this run does not have
    }
    const sort = view.get("sort") ?? "";
    this.sort = this.keys.includes(sort.replace(/^-/, "")) ? sort : "";
    this.show();
  }

  changed() {
    Address.write(this.section.id, this.view);
    this.show();
  }

  cleared() {
    this.sort = "";
    this.changed();
  }

  show() {
    const view = this.view;
    const terms = (view.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...view].filter(([name]) => name !== "q" && name !== "sort");
    const fits = (row) =>
      terms.every((term) => row.text.includes(term)) && chosen.every(([name, value]) => row.values[name] === value);
    const shown = this.ordered(this.rows.filter(fits));
    if (shown.length !== this.shown.length || shown.some((row, at) => row !== this.shown[at])) {
      this.body.replaceChildren(...shown.map((row) => row.element));
      this.shown = shown;
    }
    const every = `${this.rows.length} cell${this.rows.length === 1 ? "" : "s"}`;
    this.count.textContent = shown.length === this.rows.length ? every : `${shown.length} of ${every}`;
    for (const head of this.heads) {
      const up = head.dataset.key === this.sort;
      const down = `-${head.dataset.key}` === this.sort;
      if (up || down) head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  ordered(rows) {
    if (!this.sort) return rows;
    const key = this.sort.replace(/^-/, "");
    const sign = this.sort.startsWith("-") ? -1 : 1;
    const compare = (a, b) =>
      typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return rows.sort(({ values: { [key]: a } }, { values: { [key]: b } }) => {
      if ((a === "") !== (b === "")) return a === "" ? 1 : -1; // the unknown comes last, whichever the order
      return sign * compare(a, b);
    });
  }
}
