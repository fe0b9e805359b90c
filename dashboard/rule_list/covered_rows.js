// The rows that one rule covers, as a table of raw values. Everything that comes from the data is set as text.

const many = (n) => n.toLocaleString("en-US");

function rowOf(own, place) {
  const part = own.data.parts[own.part];
  const right = part.right[place];
  const [mark, hue, name] = part.classes[place];
  const cell = (text, kind = "") => node("span", { role: "cell", class: kind, text, title: text });
  return node("div", { class: "line", role: "row", "aria-rowindex": place + 2 }, cell(part.rows[place], "number"),
    node("span", { role: "cell", class: right ? "right" : "wrong", text: right ? `✓ ${own.data.verdicts[0]}` : `✕ ${own.data.verdicts[1]}` }),
    node("span", { role: "cell", title: name }, node("span", { style: { color: `var(--${hue})` }, text: mark }), ` ${name}`),
    ...part.cells.map((column, index) => cell(column[place], index < own.data.own ? "own" : "")));
}

function drawParts(own) {
  const buttons = own.data.parts.map((part, index) => {
    const button = node("button", { type: "button", "aria-pressed": String(index === own.part), text: `${part.name}: ${many(part.total)} rows, ${many(part.wrong)} ${own.data.verdicts[1]}` });
    button.addEventListener("click", () => { own.part = index; drawRows(own); });
    return button;
  });
  const part = own.data.parts[own.part];
  const shown = part.rows.length < part.total ? `The first ${many(part.rows.length)} of ${many(part.total)} rows are shown; the file has them all.` : "";
  own.root.querySelector(".parts").replaceChildren(...buttons);
  own.root.querySelector(".more").textContent = [shown, own.data.more].filter(Boolean).join(" ");
}

function drawRows(own) {
  drawParts(own);
  const { heads, parts } = own.data;
  own.root.style.setProperty("--columns", `56px ${own.data.verdicts[0].length > 6 ? 104 : 72}px minmax(90px, 150px) repeat(${heads.length - 3}, minmax(96px, 1fr))`);
  own.root.style.setProperty("--wide", `${280 + 106 * (heads.length - 3)}px`);
  const cells = heads.map((text, index) => node("span", { role: "columnheader", class: index > 2 && index < 3 + own.data.own ? "own" : "", text, title: text }));
  own.root.querySelector(".head").replaceChildren(node("div", { class: "line", role: "row" }, ...cells));
  const box = own.root.querySelector(".box");
  box.setAttribute("aria-rowcount", parts[own.part].rows.length + 1);
  box.scrollTop = 0;
  own.list.show(parts[own.part].rows.map((_, place) => place));
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".covered");
  const own = parentElement.own ??= { root, part: 0, list: null };
  own.list ??= virtualList(root.querySelector(".box"), root.querySelector(".inner"), (place) => rowOf(own, place), 32);
  const before = JSON.stringify(own.data);
  if (before === JSON.stringify(data)) return;
  own.data = data;
  own.part = Math.min(own.part, data.parts.length - 1);
  drawRows(own);
}
