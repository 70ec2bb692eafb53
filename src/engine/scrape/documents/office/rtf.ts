/** Converts RTF: paragraphs, lists, styles of text, links and tables. */
import { limits } from '../../../../core/limits/limits.ts'
import type { TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { inlineNodes, type ListItem, listOf, type Run, type RunStyle, tableOf } from './inline.ts'
import type { OfficeContent } from './office-content.ts'
import { OfficeError } from './office-error.ts'
import { type Fonts, fontsOf } from './rtf-fonts.ts'
import { gridOf, type RtfRow } from './rtf-rows.ts'
import { characters, hiddenGroups, styleAfter } from './rtf-words.ts'

/** State of a group, which its inner groups inherit. */
interface Group {
  style: RunStyle
  /** Where the text of the group goes: into the document, nowhere, or into a fact. */
  target: 'text' | 'none' | 'link' | 'label' | 'title' | 'author' | 'subject'
  font: number | undefined
  /** Characters that replace one `\u` character for old programs. */
  fallback: number
}

const firstGroup: Group = { style: {}, target: 'text', font: undefined, fallback: 1 }

const facts = new Set(['title', 'author', 'subject'] as const)

const token =
  /\\(?:'([\da-f]{2})|([a-z]{1,32})(-?\d{1,10})? ?|([^a-z\r\n])|\r?\n)|([{}])|([^\\{}\r\n]{1,1000000})|\r?\n/gi

export async function rtfContent(bytes: Uint8Array): Promise<OfficeContent> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return new RtfReader(await fontsOf(text)).read(text)
}

class RtfReader {
  readonly #nodes: TreeNode[] = []
  #runs: Run[] = []
  #cells: TreeNode[][] = []
  #cell: TreeNode[] = []
  #edges: number[] = []
  #rows: RtfRow[] = []
  #inTable = false
  #heading: number | undefined
  /** The bullet or number of the paragraph, and its level. */
  #label: string | undefined
  #level = 0
  /** Items of the list that is read. */
  #items: ListItem[] = []
  #listInTable = false
  readonly #open: Group[] = []
  #group: Group = { ...firstGroup }
  #skip = 0
  /** Instructions of the latest field, which may contain the URL of a link. */
  #field = ''
  readonly #facts: Partial<Record<'title' | 'author' | 'subject', string>> = {}
  readonly #fonts: Fonts
  #pending: number[] = []
  /** Whether the next word is the name of a group that programs may ignore. */
  #optional = false

  constructor(fonts: Fonts) {
    this.#fonts = fonts
  }

  read(text: string): OfficeContent {
    token.lastIndex = 0
    let at = 0
    for (let found = token.exec(text); found; found = token.exec(text)) {
      const [all, hex, word, number, symbol, brace, plain] = found
      at = token.lastIndex
      if (hex !== undefined) this.#byte(Number.parseInt(hex, 16))
      else if (plain !== undefined && this.#pending.length > 0) {
        // The second byte of a character may be a letter.
        this.#flushBytes(plain)
      } else {
        this.#flushBytes()
        if (word !== undefined) {
          // Binary data is not text, whatever it contains.
          if (word === 'bin') token.lastIndex = at += Math.max(0, Number(number ?? 0))
          else this.#word(word.toLowerCase(), number === undefined ? undefined : Number(number))
        } else if (symbol !== undefined) this.#symbol(symbol)
        else if (brace === '{') this.#enter()
        else if (brace === '}') this.#leave()
        else if (plain !== undefined) this.#text(this.#decoded(Buffer.from(plain, 'latin1')), true)
        else if (all.startsWith('\\')) this.#paragraph()
      }
    }
    this.#flushBytes()
    this.#paragraph()
    this.#endTable()
    this.#endList()
    const { title, author, subject } = this.#facts
    return { nodes: this.#nodes, title: title?.trim(), author: author?.trim(), description: subject?.trim() }
  }

  #enter(): void {
    if (this.#open.length >= limits.office.levels) throw new OfficeError('large', 'its groups are nested too deeply')
    this.#open.push(this.#group)
    this.#group = { ...this.#group }
    this.#optional = false
  }

  #leave(): void {
    this.#group = this.#open.pop() ?? { ...firstGroup }
  }

  #byte(code: number): void {
    if (this.#skip > 0) this.#skip--
    else this.#pending.push(code)
  }

  /** Reads the bytes of escapes, and the text that follows them. */
  #flushBytes(plain = ''): void {
    if (this.#pending.length === 0) return
    const bytes = Buffer.concat([Uint8Array.from(this.#pending), Buffer.from(plain, 'latin1')])
    this.#pending = []
    this.#text(this.#decoded(bytes), false)
  }

  #decoded(bytes: Uint8Array): string {
    return this.#fonts.decoderOf(this.#group.font).decode(bytes)
  }

  #text(text: string, canSkip: boolean): void {
    const skipped = canSkip ? Math.min(this.#skip, text.length) : 0
    this.#skip -= skipped
    const rest = text.slice(skipped)
    const { target, style } = this.#group
    if (rest === '' || target === 'none') return
    if (target === 'text') this.#runs.push({ text: rest, style })
    else if (target === 'label') this.#label = ((this.#label ?? '') + rest).slice(0, limits.input.labelChars)
    else if (target === 'link') this.#field = (this.#field + rest).slice(0, limits.input.urlChars)
    else this.#facts[target] = ((this.#facts[target] ?? '') + rest).slice(0, limits.input.labelChars)
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#optional = true
    else if ('\\{}'.includes(symbol)) this.#text(symbol, true)
    else if (characters[symbol] !== undefined) this.#text(characters[symbol], true)
  }

  #word(word: string, value: number | undefined): void {
    const group = this.#group
    const isOptional = this.#optional
    this.#optional = false
    if (word === 'fldinst') {
      group.target = group.target === 'none' ? 'none' : 'link'
      this.#field = ''
      return
    }
    if (facts.has(word as 'title') && this.#open.length > 0) {
      group.target = word as 'title'
      return
    }
    if (hiddenGroups.has(word) || (isOptional && word !== 'shppict')) {
      group.target = 'none'
      return
    }
    if (word === 'listtext' || word === 'pntext') {
      if (group.target === 'text') group.target = 'label'
      this.#label = undefined
      return
    }
    if (word === 'fldrslt') {
      const [, quoted, bare] = /HYPERLINK\s+(?:"([^"]*)"|(\S+))/i.exec(this.#field) ?? []
      group.style = { ...group.style, href: quoted ?? bare }
      return
    }
    this.#format(word, value)
  }

  #format(word: string, value: number | undefined): void {
    const group = this.#group
    const style = styleAfter(group.style, word, value)
    if (style) group.style = style
    switch (word) {
      case 'plain':
        group.font = undefined
        return
      case 'f':
        group.font = value
        return
      case 'v':
        if (value !== 0) group.target = 'none'
        return
      case 'uc':
        group.fallback = Math.min(Math.max(value ?? 1, 0), 10)
        return
      case 'u':
        return this.#unicode(value ?? 63)
      case 'par':
      case 'sect':
      case 'page':
        return this.#paragraph()
      case 'line':
        if (group.target === 'text') this.#runs.push({ node: element('br', {}) })
        return
      case 'pard':
        if (group.target !== 'label') this.#endProperties()
        return
      case 'ilvl':
        this.#level = Math.min(Math.max(value ?? 0, 0), 8)
        return
      case 'outlinelevel':
        this.#heading = value !== undefined && value >= 0 && value < 6 ? value + 1 : undefined
        return
      case 'trowd':
        this.#edges = []
        return
      case 'cellx':
        this.#edges.push(value ?? 0)
        return
      case 'intbl':
        this.#inTable = true
        return
      case 'cell':
        return this.#endCell()
      case 'row':
        return this.#endRow()
      default:
        if (characters[word] !== undefined) this.#text(characters[word], true)
    }
  }

  #unicode(value: number): void {
    this.#text(String.fromCharCode(value < 0 ? value + 65_536 : value), false)
    this.#skip = this.#group.fallback
  }

  #takeInline(): TreeNode[] {
    const nodes = inlineNodes(this.#runs)
    this.#runs = []
    return nodes.every((node) => 'text' in node && node.text.trim() === '') ? [] : nodes
  }

  #endProperties(): void {
    this.#heading = undefined
    this.#inTable = false
    this.#level = 0
  }

  #paragraph(): void {
    const nodes = this.#takeInline()
    // The label may come before the properties of its paragraph, so these do not reset it.
    const label = this.#label
    this.#label = undefined
    if (nodes.length === 0) return
    if (!this.#inTable) this.#endTable()
    if (label !== undefined && this.#heading === undefined) {
      if (this.#listInTable !== this.#inTable) this.#endList()
      this.#listInTable = this.#inTable
      this.#items.push(itemOf(label, this.#level, nodes))
      return
    }
    const number = label?.trim() ? [{ text: `${label.trim()} ` }] : []
    this.#endList()
    const target = this.#inTable ? this.#cell : this.#nodes
    target.push(elementAround(this.#heading === undefined ? 'p' : `h${this.#heading}`, [...number, ...nodes]))
  }

  #endList(): void {
    const target = this.#listInTable ? this.#cell : this.#nodes
    target.push(...listOf(this.#items.splice(0)))
  }

  #endCell(): void {
    if (this.#label !== undefined) this.#paragraph()
    this.#endList()
    this.#cells.push([...this.#cell, ...this.#takeInline()])
    this.#cell = []
  }

  #endRow(): void {
    if (this.#cells.length > 0) this.#rows.push({ cells: this.#cells, edges: this.#edges })
    this.#cells = []
  }

  #endTable(): void {
    if (this.#cells.length > 0) this.#endRow()
    if (this.#rows.length + this.#cell.length === 0) return
    this.#nodes.push(...tableOf(gridOf(this.#rows)), ...this.#cell)
    this.#rows = []
    this.#cell = []
  }
}

/** Returns an item for the label that its program shows; Markdown has no letters and Roman numerals. */
function itemOf(label: string, level: number, nodes: readonly TreeNode[]): ListItem {
  const [, digits] = /^\s*(\d{1,9})[.)]?\s*$/.exec(label) ?? []
  if (digits !== undefined) return { level, isOrdered: true, number: Number(digits), nodes }
  const text = /[\p{L}\p{N}].*[.)\d]|\([\p{L}\p{N}]+/u.test(label) ? [{ text: `${label.trim()} ` }] : []
  return { level, isOrdered: false, nodes: [...text, ...nodes] }
}
