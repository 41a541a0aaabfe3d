"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const words = Object.keys(data.words);
const query = document.getElementById("query");
const list = document.getElementById("results");
const count = document.getElementById("count");
const MOST = 50;
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

// What each word of a query finds: all that have a word which begins with it. In a script without
// spaces a whole clause is one word of the index, and what is asked for may be anywhere in it.
function scores(word) {
  const found = new Map();
  const anywhere = UNSPACED.test(word);
  for (const known of words) {
    if (!(anywhere ? known.includes(word) : known.startsWith(word))) continue;
    const postings = data.words[known];
    const exact = known === word ? 2 : 1;
    const rarity = Math.log(1 + data.results.length / (postings.length / 2));
    for (let i = 0; i < postings.length; i += 2) {
      const score = exact * rarity * postings[i + 1];
      found.set(postings[i], Math.max(found.get(postings[i]) || 0, score));
    }
  }
  return found;
}

function search() {
  const asked = query.value.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
  list.replaceChildren();
  count.textContent = "";
  if (!asked.length) return;
  const each = asked.map(scores);
  const ranked = [...each[0].keys()]
    .filter((i) => each.every((found) => found.has(i)))
    .map((i) => [i, each.reduce((sum, found) => sum + found.get(i), 0)])
    .sort((a, b) => b[1] - a[1] || data.results[a[0]][0].length - data.results[b[0]][0].length);
  count.textContent = ranked.length === 1 ? "1 result" : `${ranked.length} results`;
  for (const [i] of ranked.slice(0, MOST)) {
    const [title, target, kind, text] = data.results[i];
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = target;
    link.textContent = title;
    const note = document.createElement("small");
    note.textContent = ` ${kind}`;
    const details = document.createElement("div");
    details.textContent = text;
    item.append(link, note, details);
    list.append(item);
  }
}

const given = new URLSearchParams(location.search).get("q");
if (given) query.value = given;
query.addEventListener("input", search);
search();
