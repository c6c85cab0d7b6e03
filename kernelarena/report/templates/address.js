// The part of the page's address that names a place in it, and how that place is to be seen:
// #cells?platform=h100&sort=-speedup. A link to a view is all that one has to send.

const Address = {
  read() {
    const [place, query = ""] = location.hash.slice(1).split("?");
    return { place, view: new URLSearchParams(query) };
  },

  // Replaces instead of adding: whoever goes back wants the page before, not the letter typed before.
  write(place, view) {
    const query = view.toString();
    history.replaceState(null, "", `#${place}${query ? `?${query}` : ""}`);
  },

  follow(heed) {
    addEventListener("hashchange", heed);
    heed();
  },
};
