// The page to ask. What comes from documents is written as text alone, never as markup.

import { beginChanges, deletingButton, showChanges } from "/change.js";

export const $ = (id) => document.getElementById(id);
const TOKEN = "clew token";
const WAIT = 250; // milliseconds after the budget's last move
const ROLES = {
  seed: "the question touches it", expansion: "links lead to it", bridge: "it joins others",
  fact: "a fact", report: "a report", fill: "fills the number",
};

export let status = {};
let recipes = [];
let values = {}; // of metadata, by key
const filters = new Map(); // key → values
const columns = [0, 1].map((number) => ({ number, last: null, abort: null }));

// --- Elements -------------------------------------------------------------------------------

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

// What is done is there for screen readers alone: the answers show it.
export function say(text, kind = "") {
  $("state").textContent = text;
  $("state").className = kind;
}

export const count = (number, one, more) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;

// --- Requests -------------------------------------------------------------------------------

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export async function request(path, options = {}) {
  const headers = { ...options.headers };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, body.error?.message ?? `${path}: ${response.status}`);
}

const get = async (path) => (await request(path)).json();

function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function* events(response) {
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const [, name, data] = block.match(/^event: (.*)\ndata: (.*)$/s) ?? [];
      if (name) yield [name, JSON.parse(data)];
    }
  }
}

export function explain(error) {
  if (error.name === "AbortError") return;
  if (error.code === 401) askForToken(error.message);
  else if (error.code === 503) say(`${error.message}.`, "error");
  else say(error instanceof Refused ? error.message : "The server cannot be reached.", "error");
}

// --- Asking ---------------------------------------------------------------------------------

function wanted(number) {
  const body = {
    question: $("question").value,
    recipe: $(`recipe-${number}`).value === status.recipe ? null : $(`recipe-${number}`).value,
    budget: Number($("budget").value),
    picture: $("picture").checked,
    stream: true,
  };
  if (filters.size) body.where = Object.fromEntries([...filters].map(([key, own]) => [key, [...own]]));
  return body;
}

export async function ask() {
  if (!$("question").value.trim()) return;
  const two = $("compare").checked;
  $("columns").classList.toggle("two", two);
  $("column-1")?.toggleAttribute("hidden", !two);
  say("Looking it up …");
  const asked = (two ? columns : columns.slice(0, 1)).map((column) => askOne(column));
  const done = await Promise.all(asked);
  if (done.every(Boolean)) say(done.join(" "), "unseen");
}

async function askOne(column) {
  column.abort?.abort();
  const abort = (column.abort = new AbortController());
  const box = boxOf(column.number);
  box.setAttribute("aria-busy", "true");
  const begin = performance.now();
  try {
    let text = "";
    let summary = "";
    let paragraph = null;
    for await (const [name, content] of events(await post("/api/ask", wanted(column.number), abort.signal))) {
      if (name === "context") {
        summary = show(column, content, performance.now() - begin);
        paragraph = box.querySelector(".answer p");
      } else if (name === "piece") {
        text += content;
        paragraph.textContent = text;
      } else if (name === "answer") {
        paragraph.replaceChildren(...withLinks(content, column.number));
      } else if (name === "error") {
        throw new Refused(0, content.error.message);
      }
    }
    return summary;
  } catch (error) {
    explain(error);
    return "";
  } finally {
    if (column.abort === abort) box.removeAttribute("aria-busy");
  }
}

// --- What is shown --------------------------------------------------------------------------

function boxOf(number) {
  let box = $(`column-${number}`);
  if (!box) {
    box = element("section", { id: `column-${number}`, className: "column" });
    box.setAttribute("aria-labelledby", `title-${number}`);
    $("columns").append(box);
  }
  return box;
}

function show(column, context, milliseconds) {
  const { number } = column;
  const recipe = $(`recipe-${number}`).value;
  const key = JSON.stringify([context.question, recipe]);
  const settings = JSON.stringify([context.budget, [...filters].map(([name, own]) => [name, [...own]])]);
  const same = column.last?.key === key ? column.last : null;
  const before = same?.settings === settings ? same.before : (same?.items ?? null);
  const now = new Map(context.items.map((item) => [item.id, item]));
  const entered = before ? context.items.filter((item) => !before.has(item.id)) : [];
  const left = before ? [...before.values()].filter((item) => !now.has(item.id)) : [];
  column.last = { key, settings, before, items: now };

  const sizes = `${count(context.items.length, "item", "items")}, ` +
    `${context.tokens.toLocaleString("en")} of ${context.budget.toLocaleString("en")} tokens`;
  const moved = entered.length || left.length;
  const change = !before ? "" : moved ? ` Entered: ${entered.length}. Left: ${left.length}.`
    : " Nothing entered or left.";
  const box = boxOf(number);
  box.replaceChildren(
    element("h2", { id: `title-${number}` }, recipe),
    element("p", { className: "facts" }, `${sizes}, ${(milliseconds / 1000).toFixed(2)} s.${change}`),
    ...(context.remark ? [element("p", { className: "facts" }, context.remark)] : []),
    answerBox(context, number),
    ...(left.length ? [leftBox(left, context)] : []),
    ...(context.html ? [element("h3", {}, "The path to every item"), pictureOf(context.html, number)] : []),
    element("h3", {}, "Items"),
    itemsOf(context.items, new Set(entered.map((item) => item.id)), number),
  );
  return `${recipe}: ${sizes}.${change}`;
}

function answerBox(context, number) {
  const paragraph = element("p");
  const by = element("p", { className: "by" });
  if (context.nothing_found) {
    paragraph.textContent = `Nothing was found: ${context.nothing_found}.`;
  } else if (!context.answer) {
    paragraph.textContent = "…";
    by.textContent = `Written by ${status.model} from the items below.`;
  } else if (context.answer.text) {
    paragraph.append(...withLinks(context.answer, number));
    by.textContent = "Quoted word for word; no language model is asked.";
  } else {
    paragraph.textContent = "No sentence answers this by itself. See the items below.";
  }
  const box = element("div", { className: "answer" }, paragraph, by.textContent ? by : null);
  box.setAttribute("aria-live", "polite");
  return box;
}

// An answer with a link for the number of each item that it cites.
function withLinks({ text, cited }, number) {
  const parts = [];
  let end = 0;
  for (const mark of text.matchAll(/[[【]\^?\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*[\]】]/g)) {
    parts.push(text.slice(end, mark.index));
    for (const piece of mark[0].split(/(\d+)/)) {
      parts.push(piece in cited ? linkTo(Number(piece), number) : piece);
    }
    end = mark.index + mark[0].length;
  }
  return [...parts, text.slice(end)];
}

function linkTo(place, number) {
  const link = element("a", { href: `#item-${number}-${place}`, ariaLabel: `item ${place}` }, String(place));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    choose($(`item-${number}-${place}`));
  });
  return link;
}

function choose(item) {
  if (!item) return;
  document.querySelectorAll(".items > li.chosen").forEach((other) => other.classList.remove("chosen"));
  item.classList.add("chosen");
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "center" });
}

function leftBox(left, context) {
  const reasons = new Map(context.dropped.map((dropped) => [dropped.id, dropped.reason]));
  const lines = left.map((item) => element("li", {}, placeOf(item),
    reasons.has(item.id) ? ` (${reasons.get(item.id)})` : ""));
  return element("div", { className: "left" },
    element("h3", {}, `Left since the last answer (${left.length})`), element("ul", {}, ...lines));
}

function placeOf(item) {
  if (item.kind === "fact") return `Fact: ${item.text}`;
  const place = item.location || item.document || item.id;
  return item.heading ? `${place} · ${item.heading}` : place;
}

function itemsOf(items, entered, number) {
  return element("ol", { className: "items" }, ...items.map((item, i) => {
    const isNew = entered.has(item.id);
    const about = [
      ROLES[item.role] ?? item.role, count(item.tokens, "token", "tokens"),
      item.relevance === null ? "" : `relevance ${item.relevance.toFixed(2)}`,
    ].filter(Boolean).join(" · ");
    const text = element("div", { className: "text" }, item.text);
    text.tabIndex = 0;
    text.setAttribute("role", "group");
    text.setAttribute("aria-label", `Text of item ${i + 1}`);
    const neighbours = element("div");
    const row = element("li", { id: `item-${number}-${i + 1}`, className: isNew ? "entered" : "", tabIndex: -1 },
      element("h4", {}, `${i + 1}. ${placeOf(item)}`,
        isNew ? element("span", { className: "badge" }, "entered") : null),
      element("p", { className: "facts-of-item" }, about),
      text,
      element("p", { className: "why" }, `Why: ${item.why_in_words}.`),
      element("div", { className: "tools" },
        button("Open source", `Open the source of item ${i + 1}`, () => openSource(item.id)),
        foldingButton(item.id, i + 1, neighbours),
        deletingButton(item.document ?? (item.kind === "passage" ? item.id : null), i + 1)),
      neighbours);
    row.dataset.id = item.id;
    return row;
  }));
}

export function button(text, label, action) {
  const made = element("button", { type: "button", ariaLabel: label }, text);
  made.addEventListener("click", action);
  return made;
}

function foldingButton(id, place, box) {
  const made = button("Neighbours", `Neighbours of item ${place}`, async () => {
    const isOpen = made.ariaExpanded === "true";
    made.ariaExpanded = String(!isOpen);
    if (isOpen) return box.replaceChildren();
    try {
      const found = await get(`/api/neighbours?limit=20&id=${encodeURIComponent(id)}`);
      box.replaceChildren(found.length ? neighboursOf(found) : element("p", {}, "Nothing is linked to it."));
    } catch (error) {
      explain(error);
    }
  });
  made.ariaExpanded = "false";
  return made;
}

function neighboursOf(found) {
  return element("ul", { className: "neighbours" }, ...found.map((one) => element("li", {},
    element("span", { className: "link" }, `${one.edge} (${one.weight.toFixed(2)}) → ${one.kind}: `),
    one.fact || one.beginning || one.id, " ",
    button("Open", `Open ${one.kind} ${one.beginning.slice(0, 60) || one.id}`, () => openSource(one.id)))));
}

// The picture is a page of its own, in a frame without an origin and without network.
function pictureOf(html, number) {
  const frame = element("iframe", { className: "picture", src: "/frame", title: "The path from the question to every item" });
  frame.setAttribute("sandbox", "allow-scripts allow-popups");
  frame.clew = { html, number };
  return frame;
}

addEventListener("message", ({ source, data }) => {
  const frame = [...document.querySelectorAll("iframe.picture")].find((one) => one.contentWindow === source);
  if (!frame || typeof data !== "object" || data === null) return;
  if (data.clew === "ready") source.postMessage({ html: frame.clew.html }, "*");
  if (data.clew === "height" && Number.isFinite(data.value)) {
    // What is longer scrolls inside, so that the items below are not far away.
    frame.style.height = `${Math.round(Math.min(Math.max(data.value, 200), 0.8 * innerHeight))}px`;
  }
  if (data.clew === "selected") {
    const rows = document.querySelectorAll(`#column-${frame.clew.number} .items > li`);
    const row = [...rows].find((one) => one.dataset.id === data.id);
    document.querySelectorAll(".items > li.chosen").forEach((other) => other.classList.remove("chosen"));
    row?.classList.add("chosen");
  }
});

async function openSource(id) {
  try {
    const source = await get(`/api/source?id=${encodeURIComponent(id)}`);
    const [start, end] = source.span.map((place) => place - source.offset);
    // Places count characters; JavaScript counts halves of those beyond U+FFFF.
    const signs = Array.from(source.text);
    const part = (from, to) => signs.slice(Math.max(0, from), to).join("");
    const mark = element("mark", {}, part(start, end));
    $("source-title").textContent = source.document ?? source.opened;
    const cut = signs.length < source.length ? ` Shown: ${signs.length} of ${source.length} characters.` : "";
    $("source-place").textContent = `${source.location}.${cut}`;
    $("source-text").replaceChildren(part(0, start), mark, part(end));
    if (!$("source").open) $("source").showModal();
    mark.scrollIntoView({ block: "center" });
  } catch (error) {
    explain(error);
  }
}

// --- Filters --------------------------------------------------------------------------------

function showValues() {
  const known = values[$("key").value] ?? [];
  $("values").replaceChildren(...known.map((value) => element("option", { value: String(value) })));
}

function addFilter() {
  const key = $("key").value;
  const text = $("value").value;
  if (!key || !text) return;
  const own = filters.get(key) ?? new Set();
  own.add((values[key] ?? []).find((value) => String(value) === text) ?? text);
  filters.set(key, own);
  $("value").value = "";
  showFilters();
  ask();
}

function showFilters() {
  const chips = [...filters].flatMap(([key, own]) => [...own].map((value) => {
    const chip = button(`${key}: ${value} ✕`, `Remove the filter ${key}: ${value}`, () => {
      own.delete(value);
      if (!own.size) filters.delete(key);
      showFilters();
      ask();
      $("key").focus();
    });
    return element("li", {}, chip);
  }));
  $("filters").replaceChildren(...chips);
  $("filter-count").textContent = chips.length ? ` (${chips.length})` : "";
}

// --- The token ------------------------------------------------------------------------------

function askForToken(why) {
  sessionStorage.removeItem(TOKEN);
  $("token-why").title = why;
  if (!$("token-box").open) $("token-box").showModal();
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN, $("token").value);
  $("token").value = "";
  $("token-box").close();
  begin();
});

// --- The beginning --------------------------------------------------------------------------

function showRecipes(chosen) {
  for (const number of [0, 1]) {
    const select = $(`recipe-${number}`);
    select.replaceChildren(...recipes.map(({ name, is_default }) =>
      element("option", { value: name }, is_default ? `${name} (the server's own)` : name)));
    const before = recipes.findIndex(({ name }) => name === chosen[number]);
    select.selectedIndex = before >= 0 ? before : Math.min(number, recipes.length - 1);
    describe(number);
  }
}

function describe(number) {
  $(`does-${number}`).textContent = recipes.find(({ name }) => name === $(`recipe-${number}`).value)?.does ?? "";
}

export async function begin() {
  const chosen = [$("recipe-0").value, $("recipe-1").value, $("budget").value];
  try {
    [status, recipes, values] = await Promise.all([get("/api/status"), get("/api/recipes"), get("/api/metadata")]);
  } catch (error) {
    explain(error);
    return;
  }
  const model = status.model ? `${status.model} answers` : "answers are quotes";
  $("about").textContent = `${count(status.documents, "document", "documents")}, ` +
    `${count(status.passages, "passage", "passages")}; ${model}.`;
  $("budget").max = String(Math.max(8000, status.budget));
  if (!chosen[0]) $("budget").value = String(status.budget);
  $("tokens").textContent = $("budget").value;
  showRecipes(chosen);
  showChanges();
  $("key").replaceChildren(...Object.keys(values).map((key) => element("option", { value: key }, key)));
  $("filter-box").hidden = !Object.keys(values).length;
  showValues();
  say("");
}

let timer = 0;
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    ask();
  }
});
$("budget").addEventListener("input", () => {
  $("tokens").textContent = $("budget").value;
  clearTimeout(timer);
  timer = setTimeout(ask, WAIT);
});
for (const number of [0, 1]) {
  $(`recipe-${number}`).addEventListener("change", () => {
    describe(number);
    ask();
  });
}
$("compare").addEventListener("change", () => {
  $("second").hidden = !$("compare").checked;
  ask();
});
$("picture").addEventListener("change", ask);
$("key").addEventListener("change", showValues);
$("add-filter").addEventListener("click", addFilter);
$("value").addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    event.preventDefault();
    addFilter();
  }
});
$("close-source").addEventListener("click", () => $("source").close());

beginChanges();
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname);
}
begin();
