/** Writes blocks one after another, inside quotes and list items. */

/** Maximum indentation, in characters; deeper quotes and lists are not indented further. */
const maxPrefixLength = 48

export class Blocks {
  readonly #out: string[] = []
  #prefix = ''
  /** Prefix of the next line when it is the first of a list item. */
  #firstPrefix: string | undefined
  /** Prefix of the blank line before the next block. */
  #gapPrefix = ''
  #gap: 'none' | 'line' | 'blank' = 'none'
  #lastList: { prefix: string; marker: string } | undefined

  /** Adds a block of one or more lines. */
  add(block: string): void {
    if (this.#gap === 'blank') this.#out.push(`\n${this.#gapPrefix.trimEnd()}\n`)
    else if (this.#gap === 'line') this.#out.push('\n')
    for (const [at, line] of block.split('\n').entries()) {
      const prefix = at === 0 ? (this.#firstPrefix ?? this.#prefix) : this.#prefix
      this.#out.push(at === 0 ? '' : '\n', line === '' ? prefix.trimEnd() : prefix + line)
    }
    this.#firstPrefix = undefined
    this.#gapPrefix = this.#prefix
    this.#gap = 'blank'
    this.#lastList = undefined
  }

  /** Prefixes the lines that `content` adds: the first one with `first`, all others with `rest`. */
  inside(first: string, rest: string, content: () => void): void {
    if (this.#prefix.length + rest.length > maxPrefixLength) return content()
    const saved = { prefix: this.#prefix, first: this.#firstPrefix, count: this.#out.length }
    this.#firstPrefix = (this.#firstPrefix ?? this.#prefix) + first
    this.#prefix += rest
    content()
    const wrote = this.#out.length > saved.count
    this.#prefix = saved.prefix
    this.#firstPrefix = wrote ? undefined : saved.first
    if (wrote) this.#gapPrefix = saved.prefix
  }

  /** Writes the items of a list; adjacent lists get different markers. */
  list(ordered: boolean, items: (marker: string) => void): void {
    const [usual, other] = ordered ? ['.', ')'] : ['-', '*']
    const before = this.#lastList
    const prefix = this.#prefix
    const marker = before?.prefix === prefix && before.marker === usual ? other! : usual!
    const count = this.#out.length
    items(marker)
    if (this.#out.length === count) return
    this.#lastList = { prefix, marker }
    this.#gap = 'blank'
  }

  /** Lets the next block follow without a blank line. */
  close(): void {
    if (this.#gap === 'blank') this.#gap = 'line'
  }

  /** Number of chunks written so far. */
  get size(): number {
    return this.#out.length
  }

  toString(): string {
    return this.#out.length === 0 ? '' : `${this.#out.join('')}\n`
  }
}
