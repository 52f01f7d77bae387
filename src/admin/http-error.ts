/** What a request is answered with when it cannot be served; the message is for the asker. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  constructor(status: number, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.status = status;
  }
}
