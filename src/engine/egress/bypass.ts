/** Hosts that a session does not ask its own proxy for: `.example.com, intra, *.test:8080, <local>`. */

/** Whether a list names a host and port, as Chromium reads such lists. */
export function bypasses(list: string, host: string, port: number): boolean {
  return list.split(/[,;\s]+/).some((rule) => rule !== '' && matches(rule.toLowerCase(), host.toLowerCase(), port))
}

function matches(rule: string, host: string, port: number): boolean {
  if (rule === '<local>') return !host.includes('.') && !host.includes(':')
  const [, name = '', digits] = /^(?:[a-z]+:\/\/)?(.*?)(?::(\d+))?$/.exec(rule) ?? []
  if (digits !== undefined && Number(digits) !== port) return false
  return isLike(host, name.startsWith('.') ? `*${name}` : name)
}

/** Whether a text is of a pattern with stars: each piece is looked for once, since going back would take for ever. */
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
