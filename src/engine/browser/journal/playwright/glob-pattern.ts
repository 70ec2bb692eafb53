/** Converts globs of URLs to regular expressions in JavaScript, since Playwright's own globs differ. */
import picomatch from 'picomatch'

/** Returns a regular expression literal that matches the same URLs. */
export function globPattern(glob: string): string {
  // A question mark of a URL is no wildcard, and `**` matches any text, also inside a segment.
  const marked = glob.replaceAll('?', '\\?').replaceAll(/\*{2,}/g, anyText)
  const { source } = picomatch.makeRe(marked, { dot: true, noextglob: true, nonegate: true })
  const plain = source.replaceAll(new RegExp(`\\\\?${anyText}`, 'g'), '.*')
  // An origin also matches with its slash.
  return String(new RegExp(plain.endsWith('$') ? `${plain.slice(0, -1)}\\/?$` : plain))
}

/** Placeholder for any text; from Unicode's private characters. */
const anyText = '\uF8FE'
