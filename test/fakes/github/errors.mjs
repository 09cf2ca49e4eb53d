// Answers that are no success, in the shapes of GitHub's description: `basic-error` and `validation-error`.

const DOCS = "https://docs.github.com/rest";

/** Thrown by a route; the server turns it into the answer. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message  GitHub's words where they are known
   * @param {{errors?: object[], headers?: Record<string, string>, url?: string, told?: boolean}} [more]  `told`: by a test
   */
  constructor(status, message, more = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }

  /** @returns {import('../http.mjs').Answer} */
  answer() {
    const { errors, headers, url } = this.more;
    const body = { message: this.message, documentation_url: DOCS, status: String(this.status) };
    if (errors) Object.assign(body, { errors });
    if (url) Object.assign(body, { url });
    return { status: this.status, headers, body };
  }
}

export const notFound = () => new ApiError(404, "Not Found");

/** @param {string} field @param {string} code @param {string} [message] @param {string} [resource] */
export function invalid(field, code, message, resource) {
  const error = { code, field, ...(resource && { resource }), ...(message && { message }) };
  return new ApiError(422, "Validation Failed", { errors: [error] });
}
