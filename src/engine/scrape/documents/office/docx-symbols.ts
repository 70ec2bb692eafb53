/** Characters of symbol fonts, which have no code in Unicode order. */

/** Characters of the font Symbol from 0x20; a space where it has those of ASCII or none. */
const greek =
  '  ∀ ∃  ∋  ∗  −                  ≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ ∴ ⊥ ‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ   ∼' +
  ' '.repeat(34) +
  'ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭'

const wingdings: Readonly<Record<number, string>> = {
  0x22: '✂', 0x28: '☎', 0x45: '☜', 0x46: '☞', 0x4a: '☺', 0x4c: '☹', 0x6c: '●', 0x6e: '■', 0x6f: '□', 0x71: '❑', 0x72: '❒',
  0x75: '◆', 0x76: '❖', 0x9f: '•', 0xa7: '▪', 0xa8: '◻', 0xab: '★', 0xd8: '➢', 0xdf: '←', 0xe0: '→', 0xe1: '↑', 0xe2: '↓',
  0xe8: '➔', 0xef: '⇦', 0xf0: '⇨', 0xf1: '⇧', 0xf2: '⇩', 0xfb: '✗', 0xfc: '✓', 0xfd: '☒', 0xfe: '☑',
} // prettier-ignore

const wingdings2: Readonly<Record<number, string>> = {
  0x4f: '✗',
  0x50: '✓',
  0x52: '☑',
  0x53: '☒',
  0x54: '☒',
  0xa3: '☐',
}

/** Returns the character that a font shows for a code; codes of unknown symbols stay. */
export function symbolOf(code: number, font: string): string {
  const name = font.trim().toLowerCase()
  const shown = String.fromCodePoint(code)
  const at = code & 0xff
  if (name === 'wingdings') return wingdings[at] ?? shown
  if (name === 'wingdings 2') return wingdings2[at] ?? shown
  if (name !== 'symbol') return shown
  const symbol = greek[at - 0x20] ?? ' '
  if (symbol !== ' ') return symbol
  return at >= 0x20 && at < 0x7f ? String.fromCodePoint(at) : shown
}
