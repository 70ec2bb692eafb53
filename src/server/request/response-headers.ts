/** Headers that every response carries. */
import type { AppContext } from './env.ts'

/**
 * Adds headers to the response that `next` makes, also to that for an error. They are set first: a header that is set
 * later makes Hono copy the response, and read its body as a stream.
 */
export async function addHeaders(
  context: AppContext,
  headers: Readonly<Record<string, string>>,
  next: () => Promise<void>,
): Promise<void> {
  for (const [name, value] of Object.entries(headers)) context.header(name, value)
  await next()
  // A response that Hono's context has not made lacks them.
  for (const [name, value] of Object.entries(headers)) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}
