/** Limits maps that serve as caches. */

/** Removes the oldest entries of a map until it has at most `most`. */
export function evictOldest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
