/** Proxy bypass lists of sessions: `.example.com, intra, *.test:8080, <local>`. */

/** Returns whether a bypass list contains a host and port, by Chromium's rules. */
export function bypasses(list: string, host: string, port: number): boolean {
  return list.split(/[,;\s]+/).some((rule) => rule !== '' && matches(rule.toLowerCase(), host.toLowerCase(), port))
}

function matches(rule: string, host: string, port: number): boolean {
  if (rule === '<local>') return !host.includes('.') && !host.includes(':')
  const [, name = '', digits] = /^(?:[a-z]+:\/\/)?(.*?)(?::(\d+))?$/.exec(rule) ?? []
  if (digits !== undefined && Number(digits) !== port) return false
  return isLike(host, name.startsWith('.') ? `*${name}` : name)
}

/** Matches a text against a pattern with stars in linear time, without backtracking. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
