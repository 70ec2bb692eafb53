/** Waits for conditions by polling. */

/** Polls until `condition` holds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Polls until `found` returns something other than null, undefined or false; returns it. */
export async function waitFor<T>(what: string, found: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const value = await found()
    if (value !== null && value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
