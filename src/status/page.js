const shown = (at) =>
  at.toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
for (const time of document.querySelectorAll("time")) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.textContent;
  time.textContent = shown(at);
}
for (const title of document.querySelectorAll("rect title")) {
  const [, day, time, value] = /^(\S+) (\S+) UTC(.*)/.exec(title.textContent);
  title.textContent = shown(new Date(`${day}T${time}Z`)) + value;
}
