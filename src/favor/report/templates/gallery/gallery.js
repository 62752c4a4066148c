(() => {
  const order = document.querySelector('.order'), [left, right] = order.querySelectorAll('select');
  const articles = [...document.querySelectorAll('article')];
  order.hidden = !articles.length;
  // Any two beside each other, whoever loses most with the second first.
  const show = () => {
    const lost = article => JSON.parse(article.dataset.lost)[right.value] ?? -Infinity;
    document.querySelector('main').append(...[...articles].sort((a, b) => lost(b) - lost(a)));
    document.querySelectorAll('[data-row]').forEach(pane => {
      pane.hidden = ![left.value, right.value].includes(pane.dataset.row);
      pane.style.order = pane.dataset.row === left.value ? 0 : 1;
    });
  };
  order.addEventListener('change', show);
  show();
})();
