// Small pictures of what each value adds. Everything that comes from the data is set as text.

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 220;
const TALL = 64;
const NARROWEST = 34;

function make(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name === "style") for (const [key, setting] of Object.entries(value)) made.style.setProperty(key, setting);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function stepPicture(chart) {
  const shares = chart.steps.map((step) => step.share);
  const up = Math.max(0, ...shares);
  const down = Math.max(0, ...shares.map((share) => -share));
  const zero = 16 + up * TALL;
  const bottom = zero + down * TALL + (down ? 16 : 4);
  const label = chart.steps.map((step) => step.title).join(", ");
  const box = make("svg:svg", { viewBox: `0 0 ${WIDE} ${bottom + 18}`, role: "img", "aria-label": `${chart.title}: ${label}` });
  for (const step of chart.steps) {
    const [x, wide] = [step.from * WIDE, (step.to - step.from) * WIDE];
    const tall = step.share * TALL;
    if (!tall) continue;
    box.append(make("svg:rect", { x, y: Math.min(zero, zero - tall), width: wide, height: Math.abs(tall), fill: `var(--${step.hue})`, opacity: 0.3 }),
      make("svg:rect", { x, y: zero - tall - 1, width: wide, height: 2, fill: `var(--${step.hue})` }));
    if (wide >= NARROWEST) box.append(make("svg:text", { class: "sum", x: x + wide / 2, y: zero - tall + (tall > 0 ? -5 : 13), "text-anchor": "middle", text: step.text }));
  }
  box.append(make("svg:rect", { x: 0, y: zero - 0.5, width: WIDE, height: 1, fill: "var(--axis)" }));
  const taken = [];
  const write = (at, text, anchor) => {
    const half = text.length * 3.2;
    const middle = at + { start: half, middle: 0, end: -half }[anchor];
    if (taken.some(([from, to]) => middle - half < to + 4 && middle + half > from - 4)) return;
    taken.push([middle - half, middle + half]);
    box.append(make("svg:text", { x: at, y: bottom + 13, "text-anchor": anchor, text }));
  };
  for (const tick of chart.ticks) {
    const x = tick.at * WIDE;
    if (chart.lines) box.append(make("svg:rect", { x: x - 0.5, y: zero, width: 1, height: bottom - zero + 2, fill: "var(--axis)", opacity: 0.6 }));
    write(Math.min(WIDE, Math.max(0, x)), tick.text, x < 16 ? "start" : x > WIDE - 16 ? "end" : "middle");
  }
  chart.ends.forEach((text, side) => write(side * WIDE, text, side ? "end" : "start"));
  return box;
}

function barPicture(chart) {
  const shares = chart.bars.map((bar) => bar.share);
  const left = Math.max(0, ...shares.map((share) => -share));
  const right = Math.max(0, ...shares);
  const room = 30;
  const zero = left ? room + (left / (left + right)) * (100 - room - (right ? room : 0)) : 0;
  const scale = (100 - (left ? room : 0) - (right ? room : 0)) / (left + right || 1);
  return make("div", {}, ...chart.bars.map((bar) => {
    const long = Math.abs(bar.share) * scale;
    const positive = bar.share > 0;
    const end = positive ? { left: `calc(${zero + long}% + 4px)` } : { right: `calc(${100 - zero + long}% + 4px)` };
    return make("div", { class: "name-row" }, make("span", { text: bar.name, title: bar.name }),
      make("div", { class: "lane", style: { "--zero": `${zero}%` } },
        bar.share ? make("i", { style: { left: `${positive ? zero : zero - long}%`, width: `${long}%`, background: `var(--${bar.hue})` } }) : null,
        bar.share ? make("b", { style: end, text: bar.text }) : null));
  }), chart.more ? make("div", { class: "more", text: chart.more }) : null);
}

function gridPicture(grid) {
  const head = make("tr", {}, make("th", { text: grid.corner }), ...grid.columns.map((text) => make("th", { scope: "col", text })));
  const rows = grid.rows.map((text, row) => make("tr", {}, make("th", { scope: "row", text }), ...grid.cells[row].map((cell) =>
    make("td", { text: cell.text, style: { background: `color-mix(in srgb, var(--${cell.hue}) ${Math.round(45 * cell.share)}%, var(--bg))` } }))));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

export default function values({ data, parentElement }) {
  const root = parentElement.querySelector(".values");
  if (data.plane) { planePicture(root, data.plane); return; }
  root.replaceChildren(make("div", { class: "charts" }, ...data.charts.map((chart) =>
    make("div", {}, make("h4", { text: chart.title }), chart.steps ? stepPicture(chart) : barPicture(chart)))));
}
