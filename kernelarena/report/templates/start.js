// Where everything begins.

const section = document.getElementById("cells");
const cells = section && new Cells(section);

Address.follow(() => {
  const { place, view } = Address.read();
  if (cells && place === "cells") {
    cells.view = view;
    section.scrollIntoView();
  } else {
    Details.open(place);
  }
});
if (cells && Address.read().place !== "cells") cells.show();

if (typeof vegaEmbed === "function") {
  const charts = new Charts(JSON.parse(document.getElementById("charts").textContent), [...document.querySelectorAll(".plot")]);
  charts.draw().then(() => charts.offerFiles());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.draw());
  // printed pages are light whatever the screen is: style sheets know, drawn charts have to be told
  matchMedia("print").addEventListener("change", () => charts.draw());
}
