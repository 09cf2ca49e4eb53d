// Another server, to which nothing may go.

import { createServer } from "node:http";

/** Its `port`, and what it has `seen`: an address and the headers for each request. */
export async function openStranger(t) {
  const seen = [];
  const server = createServer(({ url, headers }, response) => {
    seen.push({ url, headers });
    response.end("[]");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { port: server.address().port, seen };
}
