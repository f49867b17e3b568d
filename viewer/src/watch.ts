// A page of `perp run --watch` asks a file beside it twice a second for news, and loads itself again when there is a newer
// page. A page from disk may not fetch, but it may run a script: the file is one call of perpWatch (perp_replay_tell).
const PERIOD = 500; // ms

interface News {
  page: number; // that is there now
  message: string; // why there is no newer one; "": all is well
}

declare global {
  interface Window {
    perpWatch?: (news: News) => void;
  }
}

const KEY = `perp-watch ${location.pathname}`;
const ownNumber = () => document.querySelector<HTMLMetaElement>("meta[name=perp-watch]")?.content;

// `keep`: what the next page is to go on with. Does nothing on a page that is not watched.
export function watchForNews(keep: () => unknown, show: (message: string) => void) {
  const own = ownNumber();
  if (own === undefined) {
    return;
  }
  let leaving = false;
  window.perpWatch = (news) => {
    if (String(news.page) === own) {
      show(news.message);
    } else {
      leaving = true;
      try {
        sessionStorage.setItem(KEY, JSON.stringify(keep()));
      } catch { /* a browser that is told to store nothing: the next page begins at its start */ }
      location.reload();
    }
  };
  const ask = () => {
    const script = document.createElement("script");
    script.src = `${location.pathname}.watch.js?${Date.now()}`; // a query of its own: not from a cache
    script.addEventListener("load", () => { script.remove(); leaving || setTimeout(ask, PERIOD); });
    script.addEventListener("error", () => script.remove()); // the page was taken elsewhere: nothing will come
    document.body.append(script);
  };
  ask();
}

// What the page before this one left, once; null: nothing.
export function keptBefore<Kept>(): Kept | null {
  try {
    const text = ownNumber() === undefined ? null : sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return text === null ? null : JSON.parse(text) as Kept;
  } catch {
    return null;
  }
}
