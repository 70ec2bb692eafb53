/** Limits maps and sets that serve as caches. */

/** Removes the oldest entries of a map or set until it has at most `most`. */
export function evictOldest<Key>(map: Pick<Map<Key, unknown>, 'delete' | 'keys' | 'size'>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
