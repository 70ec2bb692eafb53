/** Selectors that a document's own `querySelectorAll` matches exactly as Playwright does, outside of shadow trees. */

export interface PlainSelector {
  readonly css: string
  /** The part for the element itself: an element in a shadow tree matches only if it matches this part. */
  readonly last: string
}

/** A selector for the document's own methods, or one of Playwright's for its script in the page. */
export type DirectSelector = { readonly plain: PlainSelector } | { readonly query: string }

const name = String.raw`-?[A-Za-z_][\w-]*`
const attribute = String.raw`\[${name}(?:[~|^$*]?=(?:"[^"\\\n]*"|'[^'\\\n]*'|${name}))?\]`
const pseudo =
  ':(?:first-child|last-child|only-child|first-of-type|last-of-type|checked|disabled|enabled|required|empty|nth(?:-last)?-(?:child|of-type)\\([0-9]{1,6}\\))'
const simple = `(?:[#.]${name}|${attribute}|${pseudo})`
const compound = `(?:(?:${name}|\\*)${simple}*|${simple}+)`
const plain = new RegExp(`^${compound}(?:(?:\\s*[>+~]\\s*|\\s+)${compound})*$`)
const lastCompound = new RegExp(`${compound}$`)

/** Returns a plain CSS selector; undefined for any other one. */
export function plainSelector(selector: string): PlainSelector | undefined {
  const css = selector.trim().replace(/^css=\s*/, '')
  // Longer ones take the regular expression too long.
  if (css.length > 500 || !plain.test(css)) return undefined
  const last = lastCompound.exec(css.replaceAll(/\[[^\]]*\]/g, (text) => text.replaceAll(/[\s>+~]/g, '_')))!
  return { css, last: css.slice(last.index) }
}
