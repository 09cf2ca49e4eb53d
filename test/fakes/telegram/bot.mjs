// The bot, and the errors it gets.

/** As `getMe` and its messages show it. */
export const BOT = { id: 7_000_000_001, is_bot: true, first_name: "Redelivery", username: "redelivery_bot" };

/** Thrown by a method; becomes `{ok: false, …}`. */
export class BotApiError extends Error {
  /** @param {number} code @param {string} description @param {Record<string, number>} [parameters] */
  constructor(code, description, parameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** Such an error in its envelope. @param {number} code @param {string} description @param {Record<string, number>} [parameters] */
export function refusal(code, description, parameters) {
  const headers = parameters?.retry_after ? { "retry-after": String(parameters.retry_after) } : {};
  return {
    status: code,
    headers,
    body: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
  };
}
