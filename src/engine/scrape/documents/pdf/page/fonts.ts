/** What the layout needs to know about fonts, and the plain text of their glyphs. */
export interface FontFacts {
  readonly bold: boolean
  readonly vertical: boolean
  /** Width of a unit of its glyphs, and height, for a font of size 1. */
  readonly unit: number
  readonly height: number
  /** Whether the font could not be loaded: its text has no glyphs. */
  readonly isLost: boolean
}

interface Font {
  readonly name?: string
  readonly bold?: boolean
  readonly black?: boolean
  readonly vertical?: boolean
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
    isType3Font,
    fontMatrix,
    bbox,
  } = (typeof object === 'object' && object !== null ? object : {}) as Font
  const unit = fontMatrix?.[0] || 0.001
  const tall = isType3Font && bbox ? Math.abs(((bbox[3] ?? 0) - (bbox[1] ?? 0)) * (fontMatrix?.[3] ?? unit)) : 1
  return {
    bold: bold === true || black === true || boldName.test(name),
    vertical: vertical === true,
    unit: isType3Font ? unit : 0.001,
    // The size of a Type 3 font may be arbitrary; then its matrix and its box say how large its glyphs are.
    height: tall > 4 || (tall > 0 && tall < 0.2) ? tall : 1,
    isLost: typeof object === 'string',
  }
}

/** Bullets of symbol fonts, which have no Unicode. */
const symbols = new Map([['\uF0B7', '•'], ['\uF0A7', '▪'], ['\uF0D8', '➢'], ['\uF0FC', '✓'], ['\uF0A8', '□'], ['\uF0FE', '☑'], ['\uF06F', '☐'], ['\uF02D', '–']]) // prettier-ignore

/** Ligatures, dashes and bullets at the places where TeX has them, in fonts without names of characters. */
const texSymbols = new Map([[11, 'ff'], [12, 'fi'], [13, 'fl'], [14, 'ffi'], [15, 'ffl'], [21, '–'], [22, '—'], [27, 'ff'], [28, 'fi'], [29, 'fl'], [30, 'ffi'], [31, 'ffl'], [127, '-'], [136, '•']]) // prettier-ignore

/** Returns the letters of ligatures and presentation forms; control characters are removed. */
export function plainText(text: string): string {
  const code = text.codePointAt(0) ?? 0
  if (text.length === 1 && code > 0x20 && code < 0x7f) return text
  const symbol = text.length === 1 ? texSymbols.get(code) : undefined
  if (symbol !== undefined) return symbol
  return (
    text
      .replaceAll(/[\uFB00-\uFDFF\uFE70-\uFEFC]/g, (form) => form.normalize('NFKC'))
      .replaceAll(/[\uF000-\uF0FF]/g, (form) => symbols.get(form) ?? form)
      .replaceAll(/[\t\n\r\u00A0\u2000-\u200A\u202F]/g, ' ')
      // eslint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF\uFFFE\uFFFF]/g, '')
  )
}
