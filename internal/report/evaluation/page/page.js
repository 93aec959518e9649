'use strict';
(function () {
  const byID = id => document.getElementById(id);
  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // What a figure is made of: shown at the pointer or the focus.
  const facts = byID('facts');
  let shown = null;
  function show(cell) {
    if (cell === shown) return;
    shown = cell;
    facts.replaceChildren(...cell.dataset.facts.split('\n').map((line, i) => make(i ? 'span' : 'b', '', line)));
    facts.hidden = false;
    const r = cell.getBoundingClientRect(), w = facts.offsetWidth, h = facts.offsetHeight;
    const x = Math.max(8, Math.min(r.right - w, document.documentElement.clientWidth - w - 8));
    const below = r.bottom + h + 10 < window.innerHeight;
    facts.style.left = (x + window.scrollX) + 'px';
    facts.style.top = ((below ? r.bottom + 6 : r.top - h - 6) + window.scrollY) + 'px';
    cell.setAttribute('aria-describedby', 'facts');
  }
  function hide() {
    if (shown) shown.removeAttribute('aria-describedby');
    shown = null;
    facts.hidden = true;
  }
  document.addEventListener('pointerover', e => {
    const cell = e.target.closest && e.target.closest('td.fig');
    if (cell) show(cell); else hide();
  });
  document.addEventListener('focusin', e => { if (e.target.matches('td.fig')) show(e.target); else hide(); });
  document.addEventListener('keydown', e => { if (e.key === 'Escape') hide(); });

  // One figure of each table takes the focus; arrow keys move it.
  for (const table of document.querySelectorAll('table.grid')) {
    const first = table.querySelector('td.fig');
    if (first) first.tabIndex = 0;
    table.addEventListener('keydown', e => {
      const cell = e.target.closest('td.fig');
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[e.key];
      if (!cell || !step) return;
      const rows = [...table.querySelectorAll('tbody tr')];
      let r = rows.indexOf(cell.parentElement), c = cell.cellIndex, next = null;
      do {
        r += step[0]; c += step[1];
        if (r < 0 || r >= rows.length || c < 0 || c >= rows[r].cells.length) return;
        next = rows[r].cells[c];
      } while (!next.classList.contains('fig'));
      e.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }

  for (const box of document.querySelectorAll('[data-toggle]')) {
    const set = () => document.body.classList.toggle(box.dataset.toggle, !box.checked);
    box.addEventListener('change', set);
    set();
  }
  for (const select of document.querySelectorAll('[data-only]')) {
    const set = () => [...select.options].forEach(o => { if (o.value) document.body.classList.toggle(o.value, o.selected); });
    select.addEventListener('change', set);
    set();
  }
  const folded = () => document.querySelectorAll('details.table');
  for (const button of document.querySelectorAll('[data-unfold]')) {
    button.addEventListener('click', () => {
      const open = [...folded()].some(d => !d.open);
      folded().forEach(d => { d.open = open; });
      button.textContent = open ? 'fold' : 'unfold all';
    });
  }
  // A link to a folded table unfolds it.
  function reveal() {
    const target = location.hash.length > 1 && byID(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
  }
  let before = [];
  window.addEventListener('beforeprint', () => { before = [...document.querySelectorAll('details')].filter(d => !d.open); before.forEach(d => { d.open = true; }); });
  window.addEventListener('afterprint', () => before.forEach(d => { d.open = false; }));
  window.addEventListener('hashchange', reveal);

  // Dialogues.
  const source = byID('data');
  if (!source) { reveal(); return; }
  const data = JSON.parse(source.textContent);
  const model = byID('pick-model'), task = byID('pick-task'), which = byID('pick-case');
  const fill = (select, list) => {
    const had = select.value;
    select.replaceChildren(...list.map(([value, text]) => { const o = make('option', '', text); o.value = value; return o; }));
    if (list.some(([value]) => String(value) === had)) select.value = had;
  };
  fill(model, data.evaluations.map((e, i) => [i, e.model + ', ' + e.sampling + (e.simulated ? ' (simulated)' : '')]));
  fill(task, data.tasks.map(t => [t.task, t.title]));
  const words = { right: 'right', wrong: 'wrong', unknown: 'I don\u2019t know', none_of_the_above: 'none of the above' };
  const say = s => words[s] || s;

  const zoom = make('dialog');
  zoom.addEventListener('click', () => zoom.close());
  document.body.append(zoom);

  function pictureOf(p, one) {
    const f = make('figure');
    const known = data.pictures[p.picture];
    if (!known) {
      f.append(make('div', 'gone', 'picture left out'));
    } else {
      const b = make('button');
      b.type = 'button';
      b.setAttribute('aria-label', 'enlarge: ' + p.shows);
      const img = make('img');
      img.src = known.data; img.width = known.width; img.height = known.height; img.alt = p.shows; img.loading = 'lazy';
      b.append(img);
      b.addEventListener('click', () => { const big = make('img'); big.src = known.data; big.alt = p.shows; zoom.replaceChildren(big); zoom.showModal(); });
      f.append(b);
    }
    f.append(make('figcaption', '', p.shows));
    return f;
  }

  function questionOf(q) {
    const box = make('div', 'asked');
    let text = [], options = [];
    const flush = () => { if (text.length) { box.append(make('p', '', text.join('\n'))); text = []; } };
    const list = () => { if (options.length) { const ul = make('ul', 'options'); ul.append(...options); box.append(ul); options = []; } };
    for (const line of q.text.split('\n')) {
      const m = /^\(([a-z])\) /.exec(line);
      if (m && (q.letters || []).includes(m[1])) {
        flush();
        options.push(make('li', (q.accepted || []).includes(m[1]) ? 'accepted' : '', line));
      } else { list(); text.push(line); }
    }
    flush(); list();
    if (!(q.letters || []).length) box.append(make('p', 'soft', 'Reference: ' + q.answer));
    if (q.pictures) {
      const grid = make('div', 'pictures' + (q.pictures.length === 1 ? ' one' : ''));
      q.pictures.forEach(p => grid.append(pictureOf(p)));
      box.append(grid);
    }
    return box;
  }

  function replyOf(t, d, i) {
    const box = make('div', 'said' + (t.draws.length > 1 && i !== t.kept ? ' dropped' : ''));
    box.append(make('p', d.text ? '' : 'soft', d.text || 'no text'));
    const meta = make('div', 'meta ' + d.score);
    if (t.draws.length > 1) meta.append(make('span', '', 'draw ' + (i + 1) + (i === t.kept ? ', kept' : '')));
    meta.append(make('b', '', d.terminal ? d.terminal + ', counts as wrong' : say(d.score)));
    if (d.judge) meta.append(make('span', '', 'judge: ' + d.judge));
    if (d.parsed && !d.terminal) meta.append(make('span', '', 'parser: ' + say(d.parsed) + (d.parsed !== d.score ? ' (differs)' : '')));
    box.append(meta);
    return box;
  }

  function draw() {
    const e = Number(model.value), n = Number(which.value);
    const mine = data.dialogues.filter(d => d.evaluation === e && d.task === task.value && d.case === n);
    const out = byID('dialogue');
    out.replaceChildren();
    if (!mine.length) { out.append(make('p', 'soft', 'This model has no dialogue on this case.')); return; }
    const ways = make('div', 'ways');
    out.append(ways);
    let path = '';
    mine.forEach((d, di) => {
      d.turns.forEach((t, ti) => {
        const id = 'turn-' + di + '-' + ti;
        if (t.path !== path) {
          path = t.path;
          ways.append(make('span', 'path', path));
          out.append(make('h3', 'part', path + (t.case !== n ? ', on case ' + t.case : '')));
        }
        const link = make('a', t.score, '');
        link.href = '#' + id;
        link.append(make('span', 'blip'), document.createTextNode(t.title));
        link.title = t.title + ': ' + say(t.score);
        link.addEventListener('click', ev => { ev.preventDefault(); byID(id).scrollIntoView(); });
        ways.append(link);
        const turn = make('div', 'turn');
        turn.id = id;
        const head = make('h4', t.score);
        head.append(make('span', 'blip'), document.createTextNode(t.title + ': ' + say(t.score)));
        const said = make('div');
        t.draws.forEach((x, i) => said.append(replyOf(t, x, i)));
        const q = data.cases[t.case] && data.cases[t.case].questions[t.key];
        turn.append(head, q ? questionOf(q) : make('div', 'asked'), said);
        out.append(turn);
      });
      out.append(make('p', 'end', d.undetermined ? 'Undetermined: ' + d.undetermined : d.end + '.'));
    });
  }
  function cases() {
    const t = data.tasks.find(x => x.task === task.value);
    fill(which, (t ? t.cases : []).map(n => [n, n]));
    steps();
  }
  function steps() {
    byID('pick-before').disabled = which.selectedIndex <= 0;
    byID('pick-next').disabled = which.selectedIndex >= which.options.length - 1;
  }
  const move = by => { which.selectedIndex += by; steps(); draw(); };
  byID('pick-before').addEventListener('click', () => move(-1));
  byID('pick-next').addEventListener('click', () => move(1));
  model.addEventListener('change', draw);
  task.addEventListener('change', () => { cases(); draw(); });
  which.addEventListener('change', () => { steps(); draw(); });
  byID('chooser').hidden = false;
  byID('chooser').addEventListener('submit', e => e.preventDefault());
  cases();
  draw();
  reveal();
})();
