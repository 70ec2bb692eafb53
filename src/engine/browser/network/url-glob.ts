/** Globs of URLs, as people know them from Playwright. */
import { limits } from '../../../core/limits/limits.ts'
import { linearUrlGlob } from '../../linear-glob.ts'

/**
 * Compiles a glob of URLs: `*` matches within a path segment, `**` any text, `{a,b}` alternatives. It is compared with the
 * URL without its fragment, and also without its query, so that a `*.png` at the end matches `a.png?v=2`. A glob without
 * a slash matches the last segment. Of a very long URL only the beginning is compared: every request of a page is.
 * @throws BaxError `invalid_request` for an invalid glob.
 */
export function urlGlob(glob: string, field: string): (url: string) => boolean {
  const matches = linearUrlGlob(glob.includes('/') ? glob : `**/${glob}`, field)
  return (url) => {
    const whole = url.slice(0, limits.network.matchedChars).replace(/#.*$/s, '')
    return matches(whole) || matches(whole.replace(/\?.*$/s, ''))
  }
}
