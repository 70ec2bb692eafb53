/** HTML text as a tokenizer should read it: where browsers do not let markup swallow the rest of a page. */

const cdata = '<![CDATA['

/**
 * The text with the same length and places, but for the tokenizer's eyes alone:
 * - `<![CDATA[` in HTML is a comment that ends at the next `>`, not at `]]>`;
 * - an `<iframe>` in `<noscript>` that is never closed ends with the `<noscript>`, whose content is text to a browser.
 */
export function tokenizable(html: string): string {
  const text = html.includes(cdata) ? html.replaceAll(cdata, '<!_CDATA[') : html
  return /<noscript/i.test(text) ? withoutOpenFrames(text) : text
}

/** Renames the frames that a `<noscript>` leaves open, so that their content is no raw text. */
function withoutOpenFrames(text: string): string {
  const places: number[] = []
  let open: number | undefined
  let inside = false
  for (const { 1: end, 2: name, index } of text.matchAll(/<(\/?)(noscript|iframe)\b/gi)) {
    const isEnd = end === '/'
    if (name!.toLowerCase() === 'noscript') {
      if (isEnd && open !== undefined) places.push(open)
      inside = !isEnd
      open = undefined
    } else open = inside && !isEnd ? (open ?? index) : undefined
  }
  if (places.length === 0) return text
  let tamed = ''
  let from = 0
  for (const place of places) {
    // `<iframe` becomes `<xframe`.
    tamed += `${text.slice(from, place + 1)}x`
    from = place + 2
  }
  return tamed + text.slice(from)
}
