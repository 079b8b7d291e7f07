// What makes the console handier. Everything works without it.
"use strict";

// A click on a line of the graph opens its evidence.
function openTarget() {
  const id = location.hash.slice(1);
  const target = id && document.getElementById(id);
  const details = target && target.querySelector("details");
  if (details) {
    details.open = true;
    details.querySelector("summary").focus();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// "/" goes to the search of the page, as in other tools.
addEventListener("keydown", (e) => {
  const box = document.querySelector('input[type="search"]');
  if (e.key === "/" && box && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    e.preventDefault();
    box.focus();
    box.select();
  }
});

// A form is sent once.
addEventListener("submit", (e) => {
  if (e.target.method !== "post") return;
  if (e.target.dataset.sent) e.preventDefault();
  e.target.dataset.sent = "1";
});
addEventListener("pageshow", () => {
  for (const f of document.forms) delete f.dataset.sent;
});
