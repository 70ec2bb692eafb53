/** Runs in the page: tells elements that every row of a list or table has apart by the texts of their rows. */

const rows = ['tr', '[role=row]', 'li', '[role=listitem]', '[role=treeitem]', 'article'] as const
/** A longer text is likely to change. */
const maxChars = 60
const maxTexts = 8
const position = / >> nth=\d+$/

/**
 * Returns a selector of an element by a text of its row, in place of the position in a selector, which is that of another row
 * after the next change; undefined when no text finds only the element.
 */
export function selectorInRow(
  element: Element,
  selector: string,
  isOnly: (selector: string) => boolean,
): string | undefined {
  const within = selector.replace(position, '')
  for (let at = element.parentElement; at; at = at.parentElement) {
    const row = rows.find((css) => at!.matches(css))
    const texts = row ? textsOf(at, element) : []
    const found = texts.map((text) => `${row} >> internal:has-text=${JSON.stringify(text)}i >> ${within}`).find(isOnly)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns texts of a row, names before numbers, which are often amounts, dates and positions. */
function textsOf(row: Element, except: Element): string[] {
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT, (node) =>
    except.contains(node) || node.parentElement?.closest('script, style, textarea, select')
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_ACCEPT,
  )
  const texts: string[] = []
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent!.replaceAll(/\s+/g, ' ').trim()
    if (text !== '' && text.length <= maxChars) texts.push(text)
  }
  const isName = (text: string) => /\p{L}{2}/u.test(text) && !/\d/.test(text)
  return texts.toSorted((a, b) => Number(isName(b)) - Number(isName(a))).slice(0, maxTexts)
}
