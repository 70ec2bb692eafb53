/** Rewrites the links of an HTML file to the files of other pages. */
import type { TokenizerCallbacks } from 'htmlparser2'
import { localLink, type PagePaths } from './local-links.ts'

/** Rewrites the `href` of each `<a>` whose page has a file; nothing else changes. */
export async function withLocalAnchors(html: string, base: string, from: string, places: PagePaths): Promise<string> {
  const { Tokenizer } = await import('htmlparser2')
  const finder = new AnchorFinder(html)
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: false }, finder)
  tokenizer.write(html)
  tokenizer.end()
  let text = ''
  let done = 0
  for (const { start, end } of finder.values) {
    const local = localLink(unescaped(html.slice(start, end)), base, from, places, '.html')
    if (local === undefined) continue
    text += html.slice(done, start) + escaped(local)
    done = end
  }
  return text + html.slice(done)
}

/** Positions of the `href` values of `<a>` tags. */
class AnchorFinder implements TokenizerCallbacks {
  readonly values: { readonly start: number; readonly end: number }[] = []
  readonly #html: string
  #isAnchor = false
  #isHref = false

  constructor(html: string) {
    this.#html = html
  }

  onopentagname(start: number, end: number): void {
    this.#isAnchor = this.#html.slice(start, end).toLowerCase() === 'a'
  }
  onattribname(start: number, end: number): void {
    this.#isHref = this.#isAnchor && this.#html.slice(start, end).toLowerCase() === 'href'
  }
  onattribdata(start: number, end: number): void {
    if (this.#isHref) this.values.push({ start, end })
  }
  onattribend(): void {}
  onattribentity(): void {}
  oncdata(): void {}
  onclosetag(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onend(): void {}
  onopentagend(): void {}
  onprocessinginstruction(): void {}
  onselfclosingtag(): void {}
  ontext(): void {}
  ontextentity(): void {}
}

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
