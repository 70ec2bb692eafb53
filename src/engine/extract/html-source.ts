/** Prepares HTML text for a tokenizer that, unlike browsers, lets some markup swallow the rest of a page. */

const cdata = '<![CDATA['

/**
 * Returns the text with changed tags but unchanged length and offsets:
 * - `<![CDATA[` in HTML is a comment that ends at the next `>`, not at `]]>`;
 * - an unclosed `<iframe>` in `<noscript>` ends with the `<noscript>`, whose content browsers treat as text.
 */
export function tokenizable(html: string): string {
  const text = html.includes(cdata) ? html.replaceAll(cdata, '<!_CDATA[') : html
  return /<noscript/i.test(text) ? withoutOpenFrames(text) : text
}

/** Renames the frames that a `<noscript>` leaves open, so that their content is not read as raw text. */
function withoutOpenFrames(text: string): string {
  const offsets: number[] = []
  let open: number | undefined
  let inside = false
  for (const { 1: end, 2: name, index } of text.matchAll(/<(\/?)(noscript|iframe)\b/gi)) {
    const isEnd = end === '/'
    if (name!.toLowerCase() === 'noscript') {
      if (isEnd && open !== undefined) offsets.push(open)
      inside = !isEnd
      open = undefined
    } else open = inside && !isEnd ? (open ?? index) : undefined
  }
  let result = ''
  let from = 0
  for (const offset of offsets) {
    // `<iframe` becomes `<xframe`.
    result += `${text.slice(from, offset + 1)}x`
    from = offset + 2
  }
  return result + text.slice(from)
}
