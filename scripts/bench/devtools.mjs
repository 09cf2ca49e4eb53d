// Chrome's DevTools protocol, as far as workerd speaks it: one connection to the isolate of a Worker.

/** Connects to `url` (`inspectorUrl()` of the harness). `send` asks one method and waits for its result. */
export async function connect(url) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`no inspector at ${url}`));
  });
  const waitingFor = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const request = waitingFor.get(id);
    waitingFor.delete(id);
    if (error) request?.reject(new Error(`${request.method}: ${error.message}`));
    else request?.resolve(result);
  };
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waitingFor.set(last, { method, resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
