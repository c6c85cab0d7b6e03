// The figures: drawn by Vega-Lite in the colours of the style sheet, drawn again when those change, and saved as files.

class Charts {
  constructor({ config, specs }, places) {
    this.config = config;
    this.specs = specs;
    this.places = places;
    this.views = new Map();
  }

  async draw() {
    const style = getComputedStyle(document.documentElement);
    const painted = (spec) =>
      JSON.parse(JSON.stringify(spec).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim()));
    for (const place of this.places) {
      await new Promise((done) => setTimeout(done)); // the page can be used meanwhile
      await this.one(place, painted(this.specs[place.dataset.spec]), painted(this.config));
    }
    document.documentElement.dataset.charts = "drawn";
  }

  async one(place, spec, config) {
    this.views.get(place)?.finalize();
    // `ast`: expressions are interpreted, since the page's policy has no room for code made of text
    const drawn = await vegaEmbed(place, { ...spec, description: place.dataset.about }, {
      mode: "vega-lite",
      renderer: "svg",
      ast: true,
      actions: false,
      tooltip: { theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light" },
      config,
    });
    this.views.set(place, drawn);
    drawn.view.addEventListener("click", (_, item) => Charts.open(item?.datum));
  }

  // A mark of a kernel leads to its cells in the table.
  static open(datum) {
    if (!datum?.kernel) return;
    const view = new URLSearchParams({ q: datum.kernel });
    if (datum.platform) view.set("platform", datum.platform);
    location.hash = `cells?${view}`;
  }

  offerFiles() {
    for (const figure of document.querySelectorAll("figure.chart")) {
      const line = document.createElement("p");
      line.className = "save";
      for (const form of ["svg", "png"]) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = form.toUpperCase();
        button.setAttribute("aria-label", `Save as ${form.toUpperCase()}: ${figure.querySelector("h3").textContent}`);
        button.addEventListener("click", () => this.save(figure, form));
        line.append(button);
      }
      figure.querySelector("figcaption").append(line);
    }
  }

  async save(figure, form) {
    const places = [...figure.querySelectorAll(".plot")];
    for (const [at, place] of places.entries()) {
      const link = document.createElement("a");
      link.href = await this.views.get(place).view.toImageURL(form, form === "png" ? 2 : 1);
      link.download = `${figure.id}${places.length > 1 ? `-${at + 1}` : ""}.${form}`;
      link.click();
    }
  }
}
