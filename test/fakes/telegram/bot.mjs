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
