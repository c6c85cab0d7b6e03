// What is folded away is opened for whoever follows a link into it, and before the page is printed.

const Details = {
  open(id) {
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let around = target; around; around = around.parentElement) if (around.tagName === "DETAILS") around.open = true;
    target.scrollIntoView();
  },
};
