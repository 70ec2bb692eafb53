/** Fields that restrict what a request allows: a request that misspells one of them must not run without it. */

/** Fields that are meant wherever they appear, also where an operation does not support them. */
const everywhere = ['confirm', 'allowed_domains', 'scopes', 'single_use'] as const

export const securityFields: ReadonlySet<string> = new Set([
  ...everywhere,
  'confirm_timeout_secs',
  'expires',
  'limits',
  'network',
  'proxy',
  'ttl_secs',
])

/** Whether a field restricts what a request allows. */
export const isSecurityField = (name: string): boolean => securityFields.has(name)

/** Returns the names that an unknown field of an object may be a misspelling of. */
export const possibleNames = (fields: readonly string[]): string[] => [...new Set([...fields, ...everywhere])]
