(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, text, values = {}) => Object.assign(document.createElement(tag), {textContent: text}, values);
  const printed = cell => [...cell.childNodes].filter(node => !/SUP|SMALL/.test(node.nodeName) &&
    !node.classList?.contains('hidden') && !node.classList?.contains('beside')).map(node => node.textContent).join('').trim();
  const text = cell => cell.dataset.value ?? printed(cell);
  // A cell that names all rows of its part (the dataset) leads whichever row comes first, and sorts nothing.
  const leading = body => body.querySelector('th[scope=rowgroup]');
  const settle = (body, lead) => {
    if (lead) ([...body.rows].find(row => !row.hidden) ?? body.rows[0]).prepend(lead);
  };
  const bar = make('div', '', {className: 'aids'});
  document.querySelector('nav').prepend(bar);

  // Search: parts of the contents by title and caption; Enter goes to the first.
  const links = all('nav a');
  const said = links.map(link => {
    const part = document.getElementById(link.hash.slice(1));
    const caption = part?.matches('figure') ? part : part?.nextElementSibling?.querySelector('caption');
    return (link.textContent + ' ' + (caption?.textContent ?? '')).toLowerCase();
  });
  const search = make('input', '', {type: 'search', placeholder: 'Search tables and figures'});
  const matches = make('span', '');
  matches.setAttribute('role', 'status');
  search.setAttribute('aria-label', 'Search tables and figures');
  const contents = document.querySelector('nav details');
  search.addEventListener('input', () => {
    const word = search.value.trim().toLowerCase();
    contents.open = Boolean(word);
    links.forEach((link, n) => { link.parentElement.hidden = !said[n].includes(word); });
    all('nav details > div').forEach(group => { group.hidden = !group.querySelector('li:not([hidden])'); });
    const count = links.filter(link => !link.parentElement.hidden).length;
    matches.textContent = !word ? '' : count ? `${count} found` : 'Nothing matches';
  });
  search.addEventListener('keydown', event => {
    if (event.key === 'Enter') links.find(link => !link.parentElement.hidden)?.click();
  });
  links.forEach(link => link.addEventListener('click', () => { contents.open = false; }));
  bar.append(search, matches);

  // A link into a folded section opens it.
  const unfold = () => {
    const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = part; at; at = at.parentElement) if (at.matches('details')) at.open = true;
    part?.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  links.forEach(link => link.addEventListener('click', () => setTimeout(unfold)));
  if (location.hash) unfold();

  // Files are links where they lie beside the page. A copy that was sent alone has no dead ones.
  const files = all('[data-file]');
  const probe = new Image();
  probe.addEventListener('load', () => files.forEach(place => {
    const link = make('a', place.textContent.split('/').pop(), {href: place.dataset.file, title: place.dataset.file});
    place.replaceWith(link);
  }));
  if (files.length) probe.src = 'figures/favor_overview.svg';

  // A click on a point highlights its method in all figures and tables; a second click ends it.
  let picked = '';
  const plain = name => name.replace(/[†‡]/, '').trim();
  const points = all('[data-method]');
  points.forEach(point => point.addEventListener('click', () => {
    picked = picked === point.dataset.method ? '' : point.dataset.method;
    document.body.classList.toggle('picked', Boolean(picked));
    points.forEach(other => other.classList.toggle('picked', other.dataset.method === picked));
    all('tbody tr').forEach(row => row.classList.toggle('picked', Boolean(picked) &&
      all('th[scope=row]', row).some(cell => plain(text(cell)) === picked)));
  }));

  // Drawings by several encoders: those of one stay, the others fade.
  const judged = all('[data-encoder]');
  if (judged.length) {
    const choice = make('select', '');
    const label = make('label', 'Encoder: ');
    [['', 'all'], ['unseen', 'that no method has seen'], ['own', "the methods' own"]].forEach(([value, said]) =>
      choice.append(make('option', said, {value})));
    choice.addEventListener('change', () => judged.forEach(drawn =>
      drawn.classList.toggle('other', !['', drawn.dataset.encoder].includes(choice.value))));
    label.append(choice);
    bar.append(label);
  }

  // The paper's values, and p as it computes them, are shown on demand: the page has one verdict on two methods.
  if (document.querySelector('.beside')) {
    const paper = make('input', '', {type: 'checkbox'});
    const label = make('label', '');
    label.append(paper, " paper's values");
    const show = () => document.body.classList.toggle('without-paper', !paper.checked);
    paper.addEventListener('change', show);
    show();
    bar.append(label);
  }

  // Hide rows, by method.
  const boards = all('[data-methods]');
  const names = [...new Set(boards.flatMap(board => JSON.parse(board.dataset.methods)))];
  if (names.length) {
    const choice = make('details', '', {className: 'choice'});
    choice.append(make('summary', 'Methods'));
    const hidden = new Set();
    names.forEach(name => {
      const box = make('input', '', {type: 'checkbox', checked: true});
      const label = make('label', '');
      label.append(box, ' ' + name);
      box.addEventListener('change', () => {
        if (box.checked) hidden.delete(name); else hidden.add(name);
        all('tbody tr').forEach(row => {
          const own = all('th[scope=row]', row).map(cell => plain(text(cell)));
          row.hidden = own.some(cell => hidden.has(cell));
        });
        all('tbody').forEach(body => settle(body, leading(body)));
      });
      choice.append(label);
    });
    bar.append(choice);
  }

  // Sort by a click on a column; a third click restores the order.
  const compare = (a, b) => {
    const [x, y] = [a, b].map(value => parseFloat(value.replace('−', '-').replace(/,/g, '')));
    return Number.isNaN(x) || Number.isNaN(y) ? Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b) : x - y;
  };
  all('table').forEach(table => {
    const bodies = all('tbody', table).map(body => [body, [...body.rows], leading(body)]);
    const grouped = bodies.some(([, , lead]) => lead) ? 1 : 0;
    all('thead th', table).forEach((head, place) => {
      if (place < grouped) return;
      const column = place - grouped;
      const button = make('button', '', {type: 'button', className: 'sort'});
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const before = head.getAttribute('aria-sort');
        all('thead th', table).forEach(other => other.removeAttribute('aria-sort'));
        const order = {null: 'descending', descending: 'ascending'}[before];
        if (order) head.setAttribute('aria-sort', order);
        bodies.forEach(([body, rows, lead]) => {
          lead?.remove();
          const sign = order === 'descending' ? -1 : 1;
          const known = row => row.cells[column] && text(row.cells[column]) !== '–';
          const sorted = [...rows].sort((a, b) => known(b) - known(a) ||
            sign * compare(text(a.cells[column]), text(b.cells[column])));
          body.append(...(order ? sorted : rows));
          settle(body, lead);
        });
      });
    });
  });

  // A table as CSV, made here: one line per cell, numbers in full, as in its Parquet file. Spreadsheets run what begins
  // as a formula does, unless a mark of text stands before it.
  const quoted = value => '"' + value.replace(/\s+/g, ' ').trim().replace(/^(?=[=@]|[+-](?![\d.]))/, "'").replace(/"/g, '""') + '"';
  const lines = table => {
    const columns = all('thead th[data-column]', table).map(head => head.dataset.column);
    return all('tbody', table).flatMap(body => {
      const section = leading(body)?.textContent ?? '';
      return [...body.rows].flatMap(row => {
        const name = all('th[scope=row]', row).map(text).join(' · ').replace(/( · )+$/, '');
        return all('td', row).map((cell, place) =>
          [table.dataset.panel, section, name, columns[place], cell.dataset.value ?? '', printed(cell)].map(quoted).join(','));
      });
    });
  };
  all('.files').forEach(list => {
    const save = make('a', 'CSV', {href: '#', download: list.dataset.name + '.csv'});
    save.addEventListener('click', () => {
      const cells = all('table', document.getElementById(list.dataset.of)).flatMap(lines);
      const csv = ['panel,section,row,column,value,text', ...cells].join('\n') + '\n';
      save.href = 'data:text/csv;charset=utf-8,' + encodeURIComponent(csv);
    });
    list.append(', ', save);
  });
})();
