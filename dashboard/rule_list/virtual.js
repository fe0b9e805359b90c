// A long list of which only the rows in view are built. Everything that comes from the data is set as text elsewhere.

const MARGIN = 240;
const SETTLING = 3;

// `box` scrolls, `inner` holds the rows; `draw(key, place)` makes the row of a key, of about `guess` pixels; `painted` is called after.
function virtualList(box, inner, draw, guess, painted = () => {}) {
  const list = { keys: [], nodes: new Map(), heights: new Map(), guess };
  const tall = (key) => list.heights.get(key) ?? list.guess;

  list.paint = () => {
    const top = box.scrollTop - inner.offsetTop - MARGIN;
    const bottom = top + box.clientHeight + 2 * MARGIN;
    let [above, place] = [0, 0];
    while (place < list.keys.length && above + tall(list.keys[place]) < top) above += tall(list.keys[place++]);
    const first = place;
    let below = above;
    while (place < list.keys.length && below < bottom) below += tall(list.keys[place++]);
    const shown = list.keys.slice(first, place);
    const wanted = new Set(shown);
    for (const [key, node] of list.nodes) if (!wanted.has(key)) { node.remove(); list.nodes.delete(key); }
    let before = null;
    shown.forEach((key, index) => {
      let node = list.nodes.get(key);
      if (!node) list.nodes.set(key, node = draw(key, first + index));
      const next = before ? before.nextSibling : inner.firstChild;
      if (next !== node) inner.insertBefore(node, next);
      before = node;
    });
    for (const key of shown) list.heights.set(key, list.nodes.get(key).offsetHeight || list.guess);
    let after = 0;
    for (; place < list.keys.length; place++) after += tall(list.keys[place]);
    inner.style.paddingTop = `${above}px`;
    inner.style.paddingBottom = `${after}px`;
    painted();
  };

  // Other rows, or the same ones drawn anew.
  list.show = (keys, anew = true) => {
    list.keys = keys;
    if (anew) { inner.replaceChildren(); list.nodes.clear(); list.heights.clear(); }
    list.paint();
    list.paint();
  };

  list.redraw = (key) => {
    const old = list.nodes.get(key);
    if (!old) return;
    const part = old.contains(old.getRootNode().activeElement) ? old.getRootNode().activeElement.dataset.part : null;
    const node = draw(key, list.keys.indexOf(key));
    list.nodes.set(key, node);
    old.replaceWith(node);
    if (part) node.querySelector(`[data-part=${part}]`)?.focus({ preventScroll: true });
  };

  const offset = (at) => list.keys.slice(0, at).reduce((sum, key) => sum + tall(key), inner.offsetTop);

  // Bring a row into view and give the focus to one of its parts. Rows are measured as they appear, so this takes turns.
  list.focus = (at, part) => {
    const key = list.keys[at];
    if (key === undefined) return;
    const head = box.querySelector(".head")?.offsetHeight ?? 0;
    for (let turn = 0; turn < SETTLING; turn++) {
      const top = offset(at);
      if (top - head < box.scrollTop) box.scrollTop = top - head;
      else if (top + tall(key) > box.scrollTop + box.clientHeight) box.scrollTop = top + tall(key) - box.clientHeight;
      list.paint();
    }
    const row = list.nodes.get(key);
    (row?.querySelector(`[data-part=${part}]`) ?? row)?.focus({ preventScroll: true });
  };

  box.addEventListener("scroll", list.paint, { passive: true });
  let wide = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== wide) { wide = box.clientWidth; list.heights.clear(); }
    list.paint();
  }).observe(box);
  return list;
}
