'use strict';
// The data of the page. Characters that no text can hold become visible.
const data = JSON.parse(
  document.getElementById('data').textContent,
  (name, value) => typeof value === 'string'
    ? value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/gu, '\ufffd')
    : value);

// Makes an element. Text in it becomes text, and never markup.
const element = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children);
  return made;
};
