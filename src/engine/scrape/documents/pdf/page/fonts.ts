/** Reads the metrics of fonts, and the characters of their glyphs. */
export interface FontFacts {
  readonly bold: boolean
  readonly vertical: boolean
  /** Width of a unit of its glyphs, and height, for a font of size 1. */
  readonly unit: number
  readonly height: number
  /** Whether the font could not be loaded: its text has no glyphs. */
  readonly isLost: boolean
  /** Characters in place of the codes of glyphs that have no name. */
  readonly characters: ReadonlyMap<number, string>
  /** Whether a code of its text has one byte, as in fonts of the Latin and mathematical alphabets. */
  readonly isSimple: boolean
}

interface Font {
  readonly name?: string
  readonly bold?: boolean
  readonly black?: boolean
  readonly vertical?: boolean
  readonly composite?: boolean
  readonly isType3Font?: boolean
  readonly fontMatrix?: readonly number[]
  readonly bbox?: readonly number[]
}

const boldName = /bold|black|heavy|demi|medi(?!um)|cmbx|sfbx|ecbx|cmssbx/i

/** Returns the facts about a font; the parser has a message in place of a font that could not be loaded. */
export function fontFacts(object: unknown): FontFacts {
  const {
    name = '',
    bold,
    black,
    vertical,
    composite,
    isType3Font,
    fontMatrix,
    bbox,
  } = (typeof object === 'object' && object !== null ? object : {}) as Font
  const unit = fontMatrix?.[0] || 0.001
  const tall = isType3Font && bbox ? Math.abs(((bbox[3] ?? 0) - (bbox[1] ?? 0)) * (fontMatrix?.[3] ?? unit)) : 1
  return {
    bold: bold === true || black === true || boldName.test(name),
    vertical: vertical === true,
    // The parser has widths in units of the font, which are not thousandths for every font.
    unit,
    // The size of a Type 3 font may be arbitrary; then its matrix and its box say how large its glyphs are.
    height: tall > 4 || (tall > 0 && tall < 0.2) ? tall : 1,
    isLost: typeof object === 'string',
    characters: texCharacters.find(([pattern]) => pattern.test(name))![1],
    isSimple: composite === false,
  }
}

/** Bullets of symbol fonts, which have no Unicode. */
const symbols = new Map([
  ['\uF0B7', '•'],
  ['\uF0A7', '▪'],
  ['\uF0D8', '➢'],
  ['\uF0FC', '✓'],
  ['\uF0A8', '□'],
  ['\uF0FE', '☑'],
  ['\uF06F', '☐'],
  ['\uF02D', '–'],
])

const byCode = (chars: string) => new Map([...chars].map((char, code) => [code, char] as const))
const ligatures = new Map([
  [11, 'ff'],
  [12, 'fi'],
  [13, 'fl'],
  [14, 'ffi'],
  [15, 'ffl'],
  [21, '–'],
  [22, '—'],
  [27, 'ff'],
  [28, 'fi'],
  [29, 'fl'],
  [30, 'ffi'],
  [31, 'ffl'],
  [127, '-'],
  [136, '•'],
])

/** Characters at the places where TeX has them, by the names of its fonts: drawings, letters and symbols of formulas, text. */
const texCharacters: readonly (readonly [RegExp, ReadonlyMap<number, string>])[] = [
  [/(?:lasyb?|linew?|circlew?|ms[ab]m|ex|extension)[-\d]*$/i, new Map()],
  [/(?:mi|mib|mathitalic)[-\d]*$/i, byCode('ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχ')],
  [/(?:sy|sys|symbol)[-\d]*$/i, byCode('−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘•≍≡⊆⊇≤≥≼≽∼≈⊂⊃≪≫≺≻')],
  [/^/, ligatures],
]

/** Returns the letters of ligatures and presentation forms; control characters are removed. */
export function plainText(text: string, { characters, isSimple }: FontFacts): string {
  const code = text.codePointAt(0) ?? 0
  if (text.length === 1 && code > 0x20 && code < 0x7f) return text
  const symbol = text.length === 1 ? characters.get(code) : undefined
  if (symbol !== undefined) return symbol
  // The parser cuts the letters of formulas (U+1D400…) of fonts with names of characters to 16 bits.
  if (isSimple && text.length === 1 && code >= 0xd400 && code < 0xd800) return String.fromCodePoint(code + 0x10000)
  return (
    text
      .replaceAll(/[\uFB00-\uFDFF\uFE10-\uFE19\uFE30-\uFE48\uFE70-\uFEFC]/g, (form) => form.normalize('NFKC'))
      .replaceAll(/[\uF000-\uF0FF]/g, (form) => symbols.get(form) ?? form)
      .replaceAll(/[\t\n\r\u00A0\u2000-\u200A\u202F]/g, ' ')
      // eslint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uFFFE\uFFFF]/g, '')
  )
}
