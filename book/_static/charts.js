// Puts the live chart in the place of each drawing (lib/show/charts.py). In print, and where a chart fails, the drawing stays.
"use strict";
for (const chart of document.querySelectorAll(".chart:not(.is-live)")) {
  const live = document.createElement("div");
  live.className = "chart-live";
  const drawing = chart.querySelector(".chart-drawing");
  const spec = JSON.parse(chart.querySelector("script").textContent);
  const options = {actions: false, renderer: "svg", tooltip: {theme: "light"}};
  chart.prepend(live);  // a chart that is as wide as its place needs one
  vegaEmbed(live, spec, options).then(() => {
    live.querySelector(".marks").setAttribute("aria-label", drawing.getAttribute("aria-label"));
    chart.classList.add("is-live");
  }, (reason) => {
    live.remove();
    console.warn(`The chart stays as it is drawn: ${reason}`);
  });
}
