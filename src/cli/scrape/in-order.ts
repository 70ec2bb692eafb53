/** Runs `work` on up to `together` items at a time, and yields the results in the order of the items. */
export async function* inOrder<Item, Result>(
  items: readonly Item[],
  together: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  let next = 0
  const start = () => {
    const result = work(items[next++]!)
    // A rejection is handled when its turn comes.
    result.catch(() => {})
    running.push(result)
  }
  while (next < items.length && running.length < together) start()
  for (let first = running.shift(); first; first = running.shift()) {
    const result = await first
    if (next < items.length) start()
    yield result
  }
}
