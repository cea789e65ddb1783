'use strict';
// The figures are counted from the rows below; the rows can be filtered by their result.
(() => {
  const rows = [...document.querySelectorAll('tr[data-result]')];
  const buttons = [...document.querySelectorAll('.filter button')];
  const count = (wanted) => rows.filter(wanted).length;

  for (const cell of document.querySelectorAll('[data-count]')) {
    const { level, count: result } = cell.dataset;
    const number = count(
      (row) => row.dataset.level === level && (result === 'all' || row.dataset.result === result));
    if (cell.tagName === 'TD') {
      cell.textContent = number;
    } else {
      cell.style.flexGrow = number;
    }
  }

  const show = (result) => {
    for (const row of rows) {
      row.hidden = result !== 'all' && row.dataset.result !== result;
    }
    for (const section of document.querySelectorAll('.rules tbody')) {
      section.hidden = !section.querySelector('tr[data-result]:not([hidden])');
    }
    for (const button of buttons) {
      button.setAttribute('aria-pressed', button.value === result);
    }
  };

  for (const button of buttons) {
    const number = count((row) => button.value === 'all' || row.dataset.result === button.value);
    button.textContent += ` ${number}`;
    button.disabled = number === 0;
    button.addEventListener('click', () => show(button.value));
  }
  show('all');
  document.querySelector('.filter').hidden = false;
  document.documentElement.dataset.counted = 'yes';
})();
