(() => {
  const order = document.querySelector('.order'), choice = order.querySelector('select');
  const articles = [...document.querySelectorAll('article')];
  order.hidden = !articles.length;
  // The author beside one method, whoever loses most first.
  const show = () => {
    const lost = article => JSON.parse(article.dataset.lost)[choice.value] ?? -Infinity;
    document.querySelector('main').append(...[...articles].sort((a, b) => lost(b) - lost(a)));
    document.querySelectorAll('[data-row]').forEach(pane => {
      pane.hidden = !['gold', choice.value].includes(pane.dataset.row);
    });
  };
  choice.addEventListener('change', show);
  show();
})();
