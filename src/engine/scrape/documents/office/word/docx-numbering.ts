/** Numbers the paragraphs of Word documents, across everything between them. */
import { roman } from '../../../../extract/numerals.ts'
import type { ElementNode } from '../../../../extract/tree.ts'
import { all, child, children } from '../office-xml.ts'

interface Level {
  readonly format: string
  readonly text: string
  readonly start: number
}

interface List {
  /** Lists of the same definition continue each other. */
  readonly definition: string
  readonly levels: ReadonlyMap<number, Level>
  /** Numbers at which levels start anew, when the list is first used. */
  readonly restarts: ReadonlyMap<number, number>
}

/** The label of a paragraph: its text, empty for a bullet, and the number if Markdown can write it. */
export type Label = { readonly number?: number; readonly text: string }

const valueOf = (node: ElementNode | undefined, tag: string): string | undefined => child(node, tag)?.attributes['val']

const maxLevel = 8

export class Numbering {
  readonly #lists: ReadonlyMap<string, List>
  readonly #counters = new Map<string, number[]>()
  readonly #used = new Set<string>()

  constructor(numbering: ElementNode | undefined) {
    const definitions = new Map(all(numbering, 'abstractNum').map((one) => [one.attributes['abstractNumId'], one]))
    const byStyle = new Map(all(numbering, 'abstractNum').map((one) => [valueOf(one, 'styleLink'), one]))
    this.#lists = new Map(
      all(numbering, 'num').map((one) => {
        const own = definitions.get(valueOf(one, 'abstractNumId'))
        const style = valueOf(own, 'numStyleLink')
        const definition = (style === undefined ? undefined : byStyle.get(style)) ?? own
        const changes = children(one, 'lvlOverride')
        const restarts = changes.flatMap((change) => {
          const start = valueOf(change, 'startOverride')
          return start === undefined ? [] : [[Number(change.attributes['ilvl']), Number(start) || 0] as const]
        })
        const levels = [...children(definition, 'lvl'), ...changes.flatMap((change) => children(change, 'lvl'))]
        return [
          one.attributes['numId'] ?? '',
          {
            definition: definition?.attributes['abstractNumId'] ?? '',
            levels: new Map(levels.map(levelOf)),
            restarts: new Map(restarts),
          },
        ]
      }),
    )
  }

  /** Counts a paragraph; undefined when its level shows neither number nor bullet. */
  next(id: string, depth: number): Label | undefined {
    const list = this.#lists.get(id)
    if (!list) return { text: '' }
    const counters = this.#counters.get(list.definition) ?? []
    this.#counters.set(list.definition, counters)
    const restart = this.#used.has(`${id} ${depth}`) ? undefined : list.restarts.get(depth)
    this.#used.add(`${id} ${depth}`)
    const start = (at: number) => list.levels.get(at)?.start ?? 1
    counters[depth] = restart ?? (counters[depth] === undefined ? start(depth) : counters[depth] + 1)
    for (let at = 0; at < depth; at++) counters[at] ??= start(at)
    counters.length = depth + 1
    const level = list.levels.get(depth)
    if (!level) return { text: '' }
    if (level.format === 'bullet') return { text: '' }
    const text = level.text.replaceAll(/%([1-9])/g, (_, digit: string) =>
      numberText(counters[Number(digit) - 1] ?? 1, list.levels.get(Number(digit) - 1)?.format ?? 'decimal'),
    )
    if (text.trim() === '') return undefined
    const isPlain = level.format === 'decimal' && level.text.trim().replace(/[.)]$/, '') === `%${depth + 1}`
    return isPlain ? { number: counters[depth], text } : { text: text.trim() }
  }
}

function levelOf(level: ElementNode): [number, Level] {
  const start = Number(valueOf(level, 'start') ?? 1)
  return [
    Math.min(Number(level.attributes['ilvl']) || 0, maxLevel),
    {
      format: valueOf(level, 'numFmt') ?? 'decimal',
      text: valueOf(level, 'lvlText') ?? `%${Number(level.attributes['ilvl']) + 1}.`,
      start: Number.isFinite(start) ? start : 1,
    },
  ]
}

function numberText(value: number, format: string): string {
  switch (format) {
    case 'none':
    case 'bullet':
      return ''
    case 'decimalZero':
      return String(value).padStart(2, '0')
    case 'lowerLetter':
      return letters(value)
    case 'upperLetter':
      return letters(value).toUpperCase()
    case 'lowerRoman':
      return roman(value)
    case 'upperRoman':
      return roman(value).toUpperCase()
    case 'ordinal':
      return `${value}${/1[123]$/.test(String(value)) ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')}`
    default:
      return String(value)
  }
}

/** Returns a, b, … z, aa, bb, as Word does. */
const letters = (value: number): string =>
  value < 1 || value > 780 ? String(value) : String.fromCodePoint(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26))
