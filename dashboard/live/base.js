// Small tools: elements from text only, numbers as printed, the palette, canvases.
const TOKENS = ["bg", "surface", "line", "axis", "ink", "ink2", "ink3", "accent", "accent-soft", ...Array.from({ length: 12 }, (_, k) => `c${k}`),
  "for", "against", "ia", "ib", "ii", "err", "ok"];
const FADE = 110;
const TAIL = 520;
const GROW = 220;
const GLOW = 420;
const NB = "\u00a0";

function el(tag, settings = {}, ...children) {
  const made = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") made.textContent = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) made.append(child);
  return made;
}

const minus = (text) => String(text).replace("-", "\u2212");
const whole = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const short = (n) => (n >= 1e6 ? `${+(n / 1e6).toFixed(2)}M` : n >= 1e4 ? `${+(n / 1e3).toFixed(1)}k` : whole(n));
const times = (n) => (n === 0 ? "never" : n === 1 ? "once" : `${whole(n)} times`);
const percent = (share) => `${Math.round(share * 100)}${NB}%`;
function number(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e7 || size < 1e-4) return minus(x.toPrecision(4).replace(/\.?0+(e|$)/, "$1"));
  return minus(+x.toPrecision(12));
}
const setAttribute = (node, name, value) => { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); };
const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const calmMedia = matchMedia("(prefers-reduced-motion: reduce)");
const still = () => calmMedia.matches;

// The colours as the browser resolves them, so that canvases follow the theme.
// The colours of the theme; none where the page is not in the document yet, or no more.
function readPalette(probe) {
  const palette = {};
  if (!probe.isConnected) return null;
  for (const name of TOKENS) {
    probe.style.color = `var(--${name})`;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
    palette[name] = "#" + [r, g, b].map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
  }
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(palette.bg.slice(i, i + 2), 16));
  palette.dark = r + g + b < 384;
  palette.family = getComputedStyle(probe).fontFamily;
  return palette;
}

// With a background the canvas is opaque, which a browser without a graphics card puts on screen faster.
function fit(canvas, width, height, background = null) {
  const ratio = devicePixelRatio || 1;
  if (canvas.w !== width || canvas.h !== height || canvas.ratio !== ratio) {
    Object.assign(canvas, { w: width, h: height, ratio });
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const g = canvas.getContext("2d", { alpha: background === null });
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (background === null) g.clearRect(0, 0, width, height);
  else { g.fillStyle = background; g.fillRect(0, 0, width, height); }
  g.textBaseline = "middle";
  return g;
}

function roundRect(g, x, y, w, h, r) {
  g.beginPath();
  g.roundRect(x, y, Math.max(0, w), h, r);
}

// Packed bytes of the server: one or two a value.
function unpack(text, wide) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return wide ? new Uint16Array(bytes.buffer) : bytes;
}

function niceTicks(low, high, most) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => span / s <= most);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) ticks.push(+(k * step).toPrecision(12));
  return ticks;
}
