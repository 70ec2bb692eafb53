/** Fields that restrict what a request allows: a request that misspells one of them must not run without it. */
import { isProxyKind } from '../../identity.ts'

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

/** Whether a field with this value restricts what the request allows. Clients of Firecrawl send the kind of a proxy. */
export const restricts = (name: string, value: unknown): boolean =>
  isSecurityField(name) && (value ?? null) !== null && !(name === 'proxy' && isProxyKind(value))
