"use strict";
const $ = (id) => document.getElementById(id);

// Light, dark, or as the system has it.
const root = document.documentElement;
const store = { get: () => { try { return localStorage.getItem("latentry-theme"); } catch { return null; } },
  set: (t) => { try { localStorage.setItem("latentry-theme", t); } catch { /* a page from a file may not remember */ } } };
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const label = () => { $("theme").textContent = dark() ? "Light" : "Dark"; $("theme").setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
if (store.get()) root.dataset.theme = store.get();
$("theme").addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; store.set(root.dataset.theme); label(); });
label();

// The latent space: choose axes and colours, hover or tap a row.
const holder = $("points");
if (holder) {
  const p = JSON.parse(holder.textContent), plot = $("plot"), dots = $("dots"), here = $("here"), panel = $("panel");
  const box = p.box, unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  const escape = (t) => String(t).replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  let x = 0, y = Math.min(1, p.axes.length - 1), at = [];
  const span = (values) => { const low = Math.min(...values), high = Math.max(...values), m = 0.03 * (high - low) || 0.5; return [low - m, high + m]; };
  const place = (axis, low, high) => { const [a, b] = span(p.axes[axis].values); return p.axes[axis].values.map((v) => low + (v - a) / (b - a) * (high - low)); };
  const ticks = ([a, b]) => { let step = 10 ** Math.floor(Math.log10((b - a) / 5)); const f = [1, 2, 5, 10].find((k) => (b - a) / (step * k) <= 5) || 10; step *= f;
    const found = []; for (let i = Math.ceil(a / step); i <= Math.floor(b / step); i++) found.push(i * step); return found; };
  const axes = () => {
    const [xa, xb] = span(p.axes[x].values), [ya, yb] = span(p.axes[y].values); let out = "";
    for (const t of ticks([xa, xb])) { const q = box.left + (t - xa) / (xb - xa) * (box.right - box.left);
      out += `<line class="grid-line" x1="${q}" x2="${q}" y1="${box.top}" y2="${box.bottom}"/><text class="tick" x="${q}" y="${box.bottom + 16}" text-anchor="middle">${+t.toPrecision(4)}</text>`; }
    for (const t of ticks([ya, yb])) { const q = box.bottom - (t - ya) / (yb - ya) * (box.bottom - box.top);
      out += `<line class="grid-line" x1="${box.left}" x2="${box.right}" y1="${q}" y2="${q}"/><text class="tick" x="${box.left - 6}" y="${q + 4}" text-anchor="end">${+t.toPrecision(4)}</text>`; }
    out += `<text class="label" x="${(box.left + box.right) / 2}" y="${box.bottom + 38}" text-anchor="middle">${escape(p.axes[x].name)}</text>`;
    out += `<text class="label" transform="translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(p.axes[y].name)}</text>`;
    $("axes").innerHTML = out;
  };
  const draw = () => {
    const px = place(x, box.left, box.right), py = place(y, box.bottom, box.top), c = p.colours[$("colour") ? $("colour").value : 0];
    at = px.map((v, i) => [v, py[i]]);
    const paths = c.labels.map(() => "");
    at.forEach(([a, b], i) => { paths[c.codes[i]] += `M${a.toFixed(1)} ${b.toFixed(1)}h0`; });
    dots.innerHTML = paths.map((d, i) => `<path class="dots ${c.ordered ? "s" : "c"}${i % 8}" d="${d}"/>`).join("");
    $("legend").innerHTML = c.labels.map((t, i) => `<span class="row"><svg width="14" height="10"><path class="key ${c.ordered ? "s" : "c"}${i % 8}" d="M4 5h6"/></svg>${escape(t)}</span>`).join("");
    axes();
  };
  const nearest = (event) => {
    const r = plot.getBoundingClientRect(), k = p.box.width / r.width;
    const mx = (event.clientX - r.left) * k, my = (event.clientY - r.top) * k;
    let best = -1, gap = 26 * 26;
    at.forEach(([a, b], i) => { const d = (a - mx) ** 2 + (b - my) ** 2; if (d < gap) { gap = d; best = i; } });
    return best;
  };
  const show = (i) => {
    if (i < 0) return;
    here.setAttribute("cx", at[i][0]); here.setAttribute("cy", at[i][1]); here.removeAttribute("hidden");
    let out = `<b>row ${escape(p.rows[i])}</b>`;
    for (const c of p.colours) if (!c.ordered && c.labels.length > 1) out += `<div class="soft">${escape(c.name)}: ${escape(c.labels[c.codes[i]])}</div>`;
    for (const s of p.sprites) {
      const k = 120 / s.side, col = i % s.across, row = Math.floor(i / s.across);
      out += `<div class="soft">${escape(s.name)}</div><div class="thumb" data-kind="image" style="width:120px;height:${s.tall * k}px;background-image:url(${s.source});background-size:${s.across * 120}px auto;background-position:-${col * 120}px -${row * s.tall * k}px"></div>`;
    }
    for (const c of p.curves) {
      const bytes = c.values.slice(i * c.length, (i + 1) * c.length);
      const d = Array.from(bytes, (v, j) => `${j ? "L" : "M"}${(j / (c.length - 1) * 100).toFixed(1)} ${(40 - v / 255 * 40).toFixed(1)}`).join("");
      out += `<div class="soft">${escape(c.name)} (${c.low} to ${c.high})</div><svg class="spark" data-kind="curve" style="width:100%;height:84px" viewBox="-2 -2 104 44" preserveAspectRatio="none"><path d="${d}"/></svg>`;
    }
    for (const t of p.tables) out += `<table class="means">${t.columns.map((n, j) => `<tr><td class="soft">${escape(n)}</td><td>${escape(t.values[i * t.columns.length + j])}</td></tr>`).join("")}</table>`;
    panel.innerHTML = out;
  };
  for (const c of p.curves) c.values = Uint8Array.from(atob(c.bytes), (t) => t.charCodeAt(0));
  plot.addEventListener("mousemove", (e) => show(nearest(e)));
  plot.addEventListener("click", (e) => show(nearest(e)));
  if ($("colour")) $("colour").addEventListener("change", draw);
  for (const [id, set] of [["x-axis", (v) => { x = v; }], ["y-axis", (v) => { y = v; }]])
    if ($(id)) $(id).addEventListener("change", (e) => { set(+e.target.value); here.setAttribute("hidden", ""); draw(); });
  draw();
}

// Set a node: the decoded images were computed beforehand.
for (const button of document.querySelectorAll("[data-do]"))
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll("[data-do]")) other.setAttribute("aria-pressed", String(other === button));
    for (const view of document.querySelectorAll("[data-shows]")) view.hidden = view.dataset.shows !== button.dataset.do;
  });

// On paper nothing can be unfolded: what was found is printed whole.
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("#found details")) part.open = true; });

$("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([$("certificate").textContent], { type: "application/json" }));
  link.download = "certificate.json"; link.click(); URL.revokeObjectURL(link.href);
});
