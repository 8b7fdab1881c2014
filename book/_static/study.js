// One switch for the code of a page, and pictures that open at their own size.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const article = document.querySelector(".bd-article section");
  if (article && document.querySelector(".bd-article .cell_input")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "code-switch";
    const set = (isShown) => {
      document.body.classList.toggle("code-is-hidden", !isShown);
      button.setAttribute("aria-pressed", String(isShown));
      button.textContent = isShown ? "Hide code" : "Show code";
    };
    button.addEventListener("click", () => set(button.getAttribute("aria-pressed") !== "true"));
    set(true);
    (article.querySelector(":scope > .finding") ?? article.querySelector("h1")).after(button);
  }
  for (const image of document.querySelectorAll(".bd-article figure img")) {
    const link = document.createElement("a");
    link.href = image.src;
    link.className = "enlarge";
    const shown = image.closest("picture") ?? image;
    shown.replaceWith(link);
    link.append(shown);
  }
});
