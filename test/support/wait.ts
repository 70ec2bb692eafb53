/** Waits for conditions by polling. */

/** After this time a condition never holds, in milliseconds: a busy machine needs many times what an idle one does. */
export const neverMs = 180_000

/** Polls until `condition` holds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + neverMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${neverMs} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Polls until `found` returns something other than null, undefined or false; returns it. */
export async function waitFor<T>(what: string, found: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = performance.now() + neverMs
  for (;;) {
    const value = await found()
    if (value !== null && value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
