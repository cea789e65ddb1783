// Shows the run of the bench in data.js's data.
(() => {
  const bar = ({ label, family, width, left, span, floor, number }) => [
    element('span', {}, label),
    element('span', { class: 'bar' },
      element('i', { class: family, style: `width:${width}` }),
      element('b', { style: `left:${left};width:${span}` }),
      ...(floor ? [element('u', { style: `left:${floor}` })] : [])),
    element('span', {}, number),
  ];

  const chart = ({ caption, bars }) => [
    element('p', {}, caption),
    element('div', { class: 'chart' }, ...bars.flatMap(bar)),
  ];

  const row = (tag, cells) => element('tr', {}, ...cells.map((cell) => element(tag, {}, cell)));

  const section = ({ id, title, charts, heads, lines, notes }) => element('section', { id },
    element('h2', {}, title),
    ...charts.flatMap(chart),
    element('div', { class: 'scroll' },
      element('table', {},
        element('thead', {}, row('th', heads)),
        element('tbody', {}, ...lines.map((line) => row('td', line))))),
    ...notes.map((note) => element('p', { class: 'dim' }, note)));

  document.getElementById('machine').append(data.machine);
  document.getElementById('terms').append(...data.terms.map((term) => element('li', {}, term)));
  document.body.append(...data.results.map(section));
})();
