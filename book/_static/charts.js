// Puts the live chart in the place of each drawing (lib/show/charts.py). In print, and where a chart fails, the drawing stays.
"use strict";
for (const chart of document.querySelectorAll(".chart:not(.is-live)")) {
  const live = document.createElement("div");
  live.className = "chart-live";
  const drawing = chart.querySelector(".chart-drawing");
  const spec = JSON.parse(chart.querySelector("script").textContent);
  if (spec.width === "container") {  // as it is now: Vega would follow every change of the window, and may never come to rest
    spec.width = chart.clientWidth;
    spec.autosize = {type: "fit-x", contains: "padding"};
  }
  const options = {actions: false, renderer: "svg", tooltip: {theme: "light"}};
  chart.prepend(live);
  vegaEmbed(live, spec, options).then(() => {
    live.querySelector(".marks").setAttribute("aria-label", drawing.getAttribute("aria-label"));
    chart.classList.add("is-live");
  }, (reason) => {
    live.remove();
    console.warn(`The chart stays as it is drawn: ${reason}`);
  });
}
