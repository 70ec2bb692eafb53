/** Limits of the identity of a read; part of `limits.ts`. */
export const identityLimits = {
  /** Length of a text with cookies, and number of cookies that a read keeps; sites set a few dozen each. */
  cookieChars: 256 * 1024,
  cookies: 3000,
  /** Length of the name and the value of a cookie; browsers ignore longer ones. */
  pairChars: 4096,
  /** Proxies that a read may use in turn. */
  proxies: 100,
} as const
