/** Fields that restrict what a request allows: a request that misspells one of them must not run without it. */

/** Fields that are refused where an operation does not support them, since callers rely on them. */
export const meantEverywhere: readonly string[] = ['confirm', 'allowed_domains', 'scopes', 'single_use']

export const securityFields: ReadonlySet<string> = new Set([
  ...meantEverywhere,
  'confirm_timeout_secs',
  'expires',
  'limits',
  'network',
  'proxy',
  'ttl_secs',
])

/** Whether a field restricts what a request allows. */
export const isSecurityField = (name: string): boolean => securityFields.has(name)
