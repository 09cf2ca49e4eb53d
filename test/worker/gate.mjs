// A server that answers when told to, so that a sweep is under way for as long as a test wants.

import { createServer } from "node:http";

/** `arrived` resolves with the first request, as a function that lets it go on and all that come after it. */
export async function gate(t) {
  const arrived = Promise.withResolvers();
  let open = false;
  const server = createServer((_request, response) => {
    if (open) return response.end();
    arrived.resolve(() => {
      open = true;
      response.end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${server.address().port}/`, arrived: arrived.promise };
}
