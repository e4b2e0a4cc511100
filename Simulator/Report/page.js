"use strict";

// The script of every page of the simulator; a page's own script follows it.
// Texts of the report become text or attribute values, never markup.
const byID = id => document.getElementById(id);
const report = JSON.parse(byID("report").textContent);

/// An element: attributes that are null or false are left out; strings become text.
function make(name, attributes = {}, ...children) {
  return dress(document.createElement(name), attributes, children);
}
function dress(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value != null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter(child => child != null));
  return node;
}
function say(text) { byID("said").textContent = text; }

/// A command that can be copied.
function replayOf(command) {
  const code = make("code", {}, command);
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      // A page that was opened from a disk may lack the permission; the old interface works there.
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    say("Copied.");
  });
  return make("div", { class: "replay" }, code, button);
}

// ---- The head of the page ----

document.title = report.title;
byID("title").textContent = report.title;
byID("command").textContent = report.command;
byID("made").append(" · made ", make("time", { datetime: report.madeAt }, report.madeAt.replace("T", " ").replace("Z", " UTC")));
