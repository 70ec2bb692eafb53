/** Hosts that a session does not ask its own proxy for: `.example.com, intra, *.test:8080, <local>`. */

/** Whether a list names a host and port, as Chromium reads such lists. */
export function bypasses(list: string, host: string, port: number): boolean {
  return list.split(/[,;\s]+/).some((rule) => rule !== '' && matches(rule.toLowerCase(), host.toLowerCase(), port))
}

function matches(rule: string, host: string, port: number): boolean {
  if (rule === '<local>') return !host.includes('.') && !host.includes(':')
  const [, name = '', digits] = /^(?:[a-z]+:\/\/)?(.*?)(?::(\d+))?$/.exec(rule) ?? []
  if (digits !== undefined && Number(digits) !== port) return false
  const parts = (name.startsWith('.') ? `*${name}` : name).split('*')
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')
  return new RegExp(`^${pattern}$`).test(host)
}
