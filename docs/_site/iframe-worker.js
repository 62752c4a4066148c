// Search from disk: browsers start no worker from a file, so a hidden frame does its work. No request leaves the machine.
if (location.protocol === 'file:') window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = Object.assign(document.createElement('iframe'), {hidden: true, title: 'Search'});
    document.body.append(frame);
    this.scope = frame.contentWindow;
    const base = new URL(url, location);
    const run = source => new Promise(resolve => {
      const script = this.scope.document.createElement('script');
      this.scope.document.head.append(Object.assign(script, {src: new URL(source, base), onload: resolve}));
    });
    this.scope.postMessage = data => this.dispatchEvent(new MessageEvent('message', {data}));
    this.scope.importScripts = (...sources) => sources.reduce((done, each) => done.then(() => run(each)), Promise.resolve());
    this.ready = run(base);
  }
  postMessage(data) {
    this.ready.then(() => this.scope.dispatchEvent(new MessageEvent('message', {data})));
  }
};
// Names, and a way in by keyboard, for what the theme leaves without.
addEventListener('load', () => {
  document.querySelector('.md-search')?.setAttribute('aria-label', 'Search');
  document.querySelectorAll('.md-code__nav').forEach((nav, n) => nav.setAttribute('aria-label', `Code ${n + 1}`));
  document.querySelectorAll('pre > code').forEach(code => { if (code.scrollWidth > code.clientWidth) code.tabIndex = 0; });
});
