// Asks for confirmation. The browser keeps the focus in the dialog and returns it afterwards.
import { h } from "./dom.js";
import { say } from "./messages.js";

let count = 0;

/** Resolves to the form's data when it is confirmed, to null when it is not. */
export function confirm({ title, lines, go, fields = [] }) {
  const head = `dialog-${++count}`;
  const form = h("form", { method: "dialog" },
    h("h2", { id: head }, title),
    lines.map((line) => h("p", {}, line)),
    fields,
    h("div", { class: "dialog-buttons" },
      h("button", { class: "button", value: "", formnovalidate: true }, say("dialog.cancel")),
      h("button", { class: "button strong", value: "go", id: `${head}-go` }, go)));
  const dialog = h("dialog", { "aria-labelledby": head }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const data = dialog.returnValue === "go" ? new FormData(form) : null;
      dialog.remove();
      resolve(data);
    });
    dialog.showModal();
    form.querySelector(`#${head}-go`).focus();
  });
}
