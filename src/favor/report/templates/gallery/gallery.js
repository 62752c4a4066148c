(() => {
  const order = document.querySelector('.order'), choice = order.querySelector('select');
  const articles = [...document.querySelectorAll('article')];
  order.hidden = false;
  choice.addEventListener('change', () => {
    const lost = article => JSON.parse(article.dataset.lost)[choice.value] ?? -Infinity;
    const sorted = choice.value ? [...articles].sort((a, b) => lost(b) - lost(a)) : articles;
    document.querySelector('main').append(...sorted);
  });
  // The author who loses most with the first method comes first.
  choice.selectedIndex = 1;
  choice.dispatchEvent(new Event('change'));
})();
