/**
 * Parses a URL, which is relative to `base` if one is given; returns undefined if it is invalid. Replaces `URL.canParse`,
 * which in Node 20, once it is optimized, rejects valid URLs with letters such as “ü”.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
