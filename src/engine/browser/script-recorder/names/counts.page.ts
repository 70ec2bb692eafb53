/** Runs in the page: selectors without the counts in names and texts, such as that in `Inbox (873)`, which change. */

const named = /(\[name=|internal:(?:has-)?text=|internal:label=)("(?:\\.|[^"\\])*")(?=i\b)/g
/** A count in parentheses or after a comma, at the end of a name, and what stands between it and the rest. */
const countAtEnd = /(\s*\(|,\s*)\d[\d.,’' ]*\+?(?:\)|\s+\p{L}[\p{L} ]*)$/u

/** Returns a selector by parts of names that contain no count, if these find only the element. */
export function withoutCounts(selector: string, isOnly: (selector: string) => boolean): string {
  // The second form has the character before the count, which tells `Inbox (873)` and `Inbox of Ada` apart.
  for (const keep of [/\s*[(,]\s*$/, /\s*$/]) {
    const shorter = selector.replaceAll(named, (all: string, kind: string, quoted: string) => {
      const name = JSON.parse(quoted) as string
      const [count, between = ''] = countAtEnd.exec(name) ?? []
      const rest = count === undefined ? '' : name.slice(0, name.length - count.length) + between.replace(keep, '')
      return /\p{L}/u.test(rest) ? kind + JSON.stringify(rest) : all
    })
    if (shorter === selector) return selector
    if (isOnly(shorter)) return shorter
  }
  return selector
}
