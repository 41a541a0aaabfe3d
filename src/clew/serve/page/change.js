// Documents come and go on the page, where the server allows it.

import { $, ask, begin, button, count, element, explain, request, say, status } from "/page.js";

const MARKDOWN = /\.(md|markdown|mdown)$/i;
const NO_TEXT = /[\u0000\ufffd]/; // what a file has that is no text in UTF-8

const send = (method, path, body) => request(path, {
  method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
});

// Shown are the controls of a server that allows changes, and none of one that only answers.
export function showChanges() {
  $("change-box").hidden = !status.writable;
  $("sync-row").hidden = !status.can_sync;
  $("kept").textContent = status.saved ? "Changes are saved." : "Changes last until the server stops.";
}

// A button that deletes the document of an item; null where nothing may be changed.
export function deletingButton(id, place) {
  if (!status.writable || !id) return null;
  return button("Delete the document", `Delete the document of item ${place}, ${id}`, () => confirmDeleting(id));
}

function confirmDeleting(id) {
  if (!id) return;
  $("sure-what").textContent = `“${id}” goes from the index` +
    (status.saved ? ", also on the disk." : ", as long as the server runs.") + " This cannot be undone here.";
  $("sure-delete").dataset.id = id;
  $("sure").showModal();
}

async function change(method, path, body) {
  say("Changing …");
  try {
    const done = await (await send(method, path, body)).json();
    await begin();
    if ($("question").value.trim()) await ask();
    say(`${inWords(done)} ${count(done.documents, "document", "documents")} now.`);
    return true;
  } catch (error) {
    explain(error);
    return false;
  }
}

function inWords(done) {
  const parts = ["added", "replaced", "deleted"].filter((name) => done[name].length)
    .map((name) => `${done[name].length} ${name}`);
  if (done.facts_changed.length) parts.push(`other facts of ${done.facts_changed.length}`);
  if (done.facts_lost.length) parts.push(`none any more of ${done.facts_lost.length}`);
  return parts.length ? `${parts.join(", ")}.` : "Nothing has changed.";
}

async function add() {
  const files = [...$("new-files").files];
  const documents = [];
  for (const file of files) {
    const text = await file.text();
    if (!text.trim() || NO_TEXT.test(text)) return say(`${file.name} is no text in UTF-8.`, "error");
    documents.push(documentOf(file.name, text));
  }
  const name = $("new-name").value.trim();
  const text = $("new-text").value;
  if (name && text.trim()) documents.push(documentOf(name, text));
  else if (text.trim() || (name && !files.length)) return say("A text has a name and at least one word.", "error");
  if (!documents.length) return say("Choose a file, or write a text and its name.", "error");
  const replace = $("new-replaces").checked;
  if (await change("POST", "/api/documents", { documents, replace })) $("add-form").reset();
}

const documentOf = (id, text) => ({
  id, text, format: MARKDOWN.test(id) ? "markdown" : "text", metadata: { file_name: id },
});

export function beginChanges() {
  $("add-form").addEventListener("submit", (event) => {
    event.preventDefault();
    add();
  });
  $("delete-form").addEventListener("submit", (event) => {
    event.preventDefault();
    confirmDeleting($("delete-name").value.trim());
  });
  $("sync").addEventListener("click", () => change("POST", "/api/sync", {}));
  $("sure-keep").addEventListener("click", () => $("sure").close());
  $("sure-delete").addEventListener("click", async () => {
    $("sure").close();
    if (await change("DELETE", "/api/documents", { ids: [$("sure-delete").dataset.id] })) $("delete-form").reset();
  });
}
