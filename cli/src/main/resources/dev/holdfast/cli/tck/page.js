// Shows the run of the kit in data.js's data. The rules can be filtered by their result.
(() => {
  const RESULTS = ['passed', 'failed', 'not-shown'];

  const at = (id) => document.getElementById(id);
  const words = (result) => result.replace('-', ' ');
  const seconds = (millis) => `${(millis / 1000).toFixed(2)} s`;

  // SPEC.md has code between back quotes.
  const prose = (text) => text.split(/`([^`]+)`/)
    .map((part, i) => i % 2 === 1 ? element('code', {}, part) : part);

  const count = (wantedLevel, wantedResult) => data.rules.filter(({ level, result }) =>
    [level, 'all'].includes(wantedLevel) && [result, 'all'].includes(wantedResult)).length;

  const total = (level) => [
    element('tr', {},
      element('th', { scope: 'row' }, level),
      ...[...RESULTS, 'all'].map((result) => element('td',
        { class: 'number', 'data-level': level, 'data-count': result },
        count(level, result)))),
    element('tr', { class: 'bars' },
      element('td', { colspan: 5 },
        element('div', { class: 'bar' },
          ...RESULTS.map((result) => element('i',
            { class: result, style: `flex-grow: ${count(level, result)}` }))))),
  ];

  const chips = (kind) => data[kind].length === 0 ? [] : [
    element('div', { class: 'dim' }, kind),
    element('ul', { class: `chips ${kind}` },
      ...data[kind].map((capability) => element('li', {}, capability))),
  ];

  const test = ({ name, result, millis, why, trace }) => element('li',
    { class: result, 'data-test': result },
    `${name} `,
    element('span', { class: `result ${result}` }, words(result)),
    ' ',
    element('span', { class: 'dim' }, seconds(millis)),
    ...(why ? [element('div', { class: 'why' }, why)] : []),
    ...(trace
      ? [element('details', {},
        element('summary', {}, 'stack trace'),
        element('pre', {}, trace))]
      : []));

  const list = (tests) => element('ul', { class: 'tests' }, ...tests.map(test));

  const details = ({ result, reasons, tests }) => {
    const all = reasons.join('; ');
    if (tests.length === 0) {
      return element('div', { class: 'why' }, all);
    }
    const number = `${tests.length} ${tests.length === 1 ? 'test' : 'tests'}`;
    const notShown = tests.filter((one) => one.result === 'not-shown').length;
    return element('details', result === 'failed' ? { open: '' } : {},
      element('summary', {}, all ? `${number}, ${notShown} not shown: ${all}` : number),
      list(tests));
  };

  const row = (rule) => element('tr',
    { id: rule.rule, 'data-rule': rule.rule, 'data-level': rule.level, 'data-result': rule.result },
    element('td', { class: 'rule-id' },
      element('a', { href: `#${rule.rule}` }, rule.rule),
      element('span', { class: 'level' }, rule.level)),
    element('td', {},
      ...rule.needs.flatMap((capability) => [element('code', {}, capability), ' ']),
      ...prose(rule.text),
      element('div', { class: 'intent' }, ...prose(rule.intent)),
      details(rule)),
    element('td', { class: `result ${rule.result}` }, words(rule.result)),
    element('td', { class: 'number' }, rule.tests.length === 0 ? '' : seconds(rule.millis)));

  const section = (title) => element('tbody', {},
    element('tr', { class: 'section' },
      element('th', { colspan: 4, scope: 'rowgroup' }, title)),
    ...data.rules.filter((rule) => rule.section === title).map(row));

  const show = (result) => {
    for (const shown of document.querySelectorAll('tr[data-result]')) {
      shown.hidden = result !== 'all' && shown.dataset.result !== result;
    }
    for (const body of document.querySelectorAll('.rules tbody')) {
      body.hidden = !body.querySelector('tr[data-result]:not([hidden])');
    }
    for (const button of document.querySelectorAll('.filter button')) {
      button.setAttribute('aria-pressed', button.value === result);
    }
  };

  document.title = `${data.passed ? 'Passed' : 'Failed'}: ${data.url} – Holdfast TCK`;
  at('header').classList.add(data.state);
  at('verdict').append(data.verdict);
  at('url').append(data.url);
  at('when').append(element('time', { datetime: data.begun }, data.date),
    `, ${data.tests} tests in ${seconds(data.millis)}`);
  at('totals').append(...Object.keys(data.levels).flatMap(total));
  at('capabilities').append(...chips('declared'), ...chips('undeclared'));
  at('environment').append(...Object.entries(data.environment).flatMap(([heading, text]) =>
    [element('dt', {}, heading), element('dd', {}, text)]));
  if (data.troubles.length > 0) {
    at('troubles').append(list(data.troubles));
    at('troubles').hidden = false;
  }
  at('rules').append(...[...new Set(data.rules.map((rule) => rule.section))].map(section));
  for (const button of document.querySelectorAll('.filter button')) {
    const number = count('all', button.value);
    button.append(` ${number}`);
    button.disabled = number === 0;
    button.addEventListener('click', () => show(button.value));
  }
  show('all');
})();
