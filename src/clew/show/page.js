"use strict";
/* Adds to a page that can be read without it: light a path, search, and tell the page around. */
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const drawing = document.querySelector("svg.drawing");
  const articles = all("article[data-rank]");
  const numbers = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);
  const tell = (message) => {
    if (window.parent !== window) window.parent.postMessage(message, "*");
  };
  let chosen = null; // the number of the item whose path is lit, as text

  function unlight() {
    for (const element of all(".lit, .beside, .chosen")) {
      element.classList.remove("lit", "beside", "chosen");
    }
    for (const button of all("button.light")) button.setAttribute("aria-pressed", "false");
    drawing?.classList.remove("lighting");
    chosen = null;
  }

  /* Light the paths of some items; what is joined to `node` stays visible beside them. */
  function light(ranks, node) {
    unlight();
    drawing.classList.add("lighting");
    const nodes = new Map(all(".node", drawing).map((element) => [element.dataset.node, element]));
    for (const element of all("[data-paths]", drawing)) {
      if (numbers(element, "paths").some((rank) => ranks.includes(rank))) {
        element.classList.add("lit");
      }
    }
    for (const line of all("[data-ends]", drawing)) {
      const ends = numbers(line, "ends");
      if (line.classList.contains("lit")) {
        ends.forEach((end) => nodes.get(end)?.classList.add("lit"));
      } else if (ends.includes(node)) {
        line.classList.add("beside");
        ends.forEach((end) => nodes.get(end)?.classList.add("beside"));
      }
    }
    nodes.get(node)?.classList.add("lit", "chosen");
    for (const part of all(".bar [data-rank]")) {
      part.classList.toggle("lit", ranks.includes(part.dataset.rank));
    }
  }

  function choose(rank, scrollTo) {
    const article = document.getElementById(`item-${rank}`);
    const box = drawing?.querySelector(`a[data-rank="${rank}"] .node`);
    if (!article) return;
    if (box) light([rank], box.dataset.node);
    chosen = rank;
    article.classList.add("chosen");
    article.querySelector("button.light")?.setAttribute("aria-pressed", "true");
    if (scrollTo === "article") article.scrollIntoView({ block: "nearest" });
    if (scrollTo === "box") drawing?.scrollIntoView({ block: "nearest" });
    if (box && scrollTo !== "article") {
      const frame = drawing.parentElement;
      const place = box.getBoundingClientRect();
      const seen = frame.getBoundingClientRect();
      if (place.left < seen.left || place.right > seen.right) {
        frame.scrollLeft += place.left - seen.left - 20;
      }
    }
    tell({ clew: "selected", id: article.dataset.id });
  }

  function search(words) {
    const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set();
    for (const article of articles) {
      const text = article.textContent.toLocaleLowerCase();
      const matches = wanted.every((word) => text.includes(word));
      article.hidden = !matches;
      if (matches) found.add(article.dataset.rank);
    }
    drawing?.classList.toggle("searching", wanted.length > 0);
    for (const link of all("a[data-rank]", drawing ?? document)) {
      link.querySelector(".node").classList.toggle("hit", found.has(link.dataset.rank));
    }
    const count = `${found.size} of ${articles.length} items`;
    document.getElementById("found").textContent = wanted.length ? count : "";
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#item-"]');
    const button = event.target.closest("button.light");
    const connector = event.target.closest(".node.connector");
    const segment = event.target.closest(".bar [data-rank]");
    if (link) {
      event.preventDefault(); // in a frame without an address the link would load the page around
      const rank = link.getAttribute("href").slice("#item-".length);
      const article = document.getElementById(`item-${rank}`);
      if (article) article.hidden = false;
      choose(rank, link.closest("svg") ? "" : "article");
    } else if (button) {
      const rank = button.closest("article").dataset.rank;
      if (chosen === rank) unlight();
      else choose(rank, "box");
    } else if (connector) {
      light(numbers(connector, "paths"), connector.dataset.node);
    } else if (segment) {
      choose(segment.dataset.rank, "article");
    } else if (event.target.closest(".drawing")) {
      unlight();
    } else if (event.target.closest("article") && !event.target.closest("a, summary, details")) {
      if (!String(window.getSelection())) choose(event.target.closest("article").dataset.rank, "");
    }
  });
  document.addEventListener("keydown", (event) => {
    const connector = event.target.closest?.(".node.connector");
    if (event.key === "Escape") unlight();
    else if (connector && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      light(numbers(connector, "paths"), connector.dataset.node);
    }
  });
  for (const connector of drawing ? all(".node.connector", drawing) : []) {
    const name = all("text", connector).map((text) => text.textContent).join(" ");
    connector.setAttribute("tabindex", "0");
    connector.setAttribute("role", "button");
    connector.setAttribute("aria-label", `${name}: show the paths through this name`);
  }
  for (const element of all("button.light, .search")) element.hidden = false;
  const field = document.getElementById("search");
  field?.addEventListener("input", () => search(field.value));
  new ResizeObserver(() => {
    tell({ clew: "height", value: document.documentElement.offsetHeight });
  }).observe(document.documentElement);
})();
