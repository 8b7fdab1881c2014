// The search page: excerpts have no code of notebooks, that of an index entry is of its section, and titles that Sphinx's index has as text are shown as text.
"use strict";
{
  const toText = Search.htmlToText, perform = Search._performSearch;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const one of page.querySelectorAll("details.hide, .cell_input, .code-switch")) one.remove();
    const place = anchor && page.querySelector(anchor);
    if (place && !place.textContent.trim()) anchor = `#${place.closest("section").id}`;  // of an index entry
    return toText(page.documentElement.outerHTML, anchor);
  };
  // Sphinx puts a title into the page as HTML: "page > heading", of which the page's title is HTML and the heading is text.
  Search._performSearch = (...query) => perform(...query).map(([name, title, ...rest]) => {
    const page = `${Search._index.titles[Search._index.docnames.indexOf(name)]} > `;
    const escaped = (text) => text.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt()};`);
    return [name, title.startsWith(page) ? page + escaped(title.slice(page.length)) : title, ...rest];
  });
}
