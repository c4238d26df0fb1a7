// No task ran.
if (tries.task.length === 0) find("time").remove();
for (const section of document.querySelectorAll("section[hidden]")) section.hidden = false;
for (const time of document.querySelectorAll("time")) {
  const local = new Date(time.dateTime);
  // The form of opflow's other dates, at the reader's own time.
  time.textContent = local.toLocaleString("sv-SE");
  time.title = time.dateTime;
}
const ways = [...document.querySelectorAll("section[id] > h2")].map((head) => {
  const way = make("a", "", head.textContent);
  way.href = `#${head.parentElement.id}`;
  return way;
});
document.querySelector("header").append(make("nav", "", ...ways));
showTable();
if (find("time")) showTime();
// The graph is last on the page, so it may be drawn later.
setTimeout(showGraph);
