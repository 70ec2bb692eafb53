/** Leads the links of an HTML file to the files of the other pages. */
import type { TokenizerCallbacks } from 'htmlparser2'
import { localAddress, type Places } from './local-links.ts'

/** The HTML as the html format has it, with the addresses of its `<a>` led to files; nothing else changes. */
export async function withLocalAnchors(html: string, base: string, from: string, places: Places): Promise<string> {
  const { Tokenizer } = await import('htmlparser2')
  const finder = new AnchorFinder(html)
  const tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: false }, finder)
  tokenizer.write(html)
  tokenizer.end()
  let text = ''
  let done = 0
  for (const { start, end } of finder.addresses) {
    const local = localAddress(unescaped(html.slice(start, end)), base, from, places, '.html')
    if (local === undefined) continue
    text += html.slice(done, start) + escaped(local)
    done = end
  }
  return text + html.slice(done)
}

/** Where the values of `href` stand in the start tags of `<a>`. */
class AnchorFinder implements TokenizerCallbacks {
  readonly addresses: { readonly start: number; readonly end: number }[] = []
  readonly #html: string
  #isAnchor = false
  #isAddress = false

  constructor(html: string) {
    this.#html = html
  }

  onopentagname(start: number, end: number): void {
    this.#isAnchor = this.#html.slice(start, end).toLowerCase() === 'a'
  }
  onattribname(start: number, end: number): void {
    this.#isAddress = this.#isAnchor && this.#html.slice(start, end).toLowerCase() === 'href'
  }
  onattribdata(start: number, end: number): void {
    if (this.#isAddress) this.addresses.push({ start, end })
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
