/** PDFs built in code. */

/** A page: its content stream, and what else its dictionary has. */
export interface PdfSource {
  readonly content: string
  readonly entries?: string
}

export interface PdfOptions {
  /** Further entries of the catalog and of the trailer. */
  readonly catalog?: string
  readonly trailer?: string
  /** Further objects, numbered from 10. */
  readonly objects?: readonly string[]
  /** Encoding of the font F4, as names of glyphs from code 65 on. */
  readonly glyphs?: string
}

/** Number of the object of a page. */
export const pageObject = (page: number): number => 100 + 2 * page

/** Fonts: F1 Helvetica, F2 bold, F3 Courier, F4 with the glyphs of the options. */
const fonts = (glyphs: string): string => {
  const font = (name: string, base: string, encoding: string) =>
    `/${name}<</Type/Font/Subtype/Type1/BaseFont/${base}/Encoding${encoding}>>`
  const names = ['Helvetica', 'Helvetica-Bold', 'Courier'].map((base, at) =>
    font(`F${at + 1}`, base, '/WinAnsiEncoding'),
  )
  return `${names.join('')}${font('F4', 'Helvetica', `<</Type/Encoding/Differences[65 ${glyphs}]>>`)}`
}

export function pdf(pages: readonly (PdfSource | string)[], options: PdfOptions = {}): Uint8Array {
  const { catalog = '', trailer = '', objects = [], glyphs = '/A' } = options
  const bodies = new Map([
    [1, `<</Type/Catalog/Pages 2 0 R${catalog}>>`],
    [2, `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, at) => `${pageObject(at)} 0 R`).join(' ')}]>>`],
    [3, `<</Font<<${fonts(glyphs)}>>/XObject<</Im 4 0 R>>>>`],
    [
      4,
      '<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>stream\n0\nendstream',
    ],
    ...objects.map((body, at) => [10 + at, body] as const),
  ])
  for (const [at, page] of pages.entries()) {
    const { content, entries = '' } = typeof page === 'string' ? { content: page } : page
    const number = pageObject(at)
    bodies.set(
      number,
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources 3 0 R/Contents ${number + 1} 0 R${entries}>>`,
    )
    bodies.set(number + 1, `<</Length ${Buffer.byteLength(content, 'latin1')}>>stream\n${content}\nendstream`)
  }
  let file = '%PDF-1.7\n'
  let table = ''
  for (const [number, body] of bodies) {
    table += `${number} 1\n${String(file.length).padStart(10, '0')} 00000 n \n`
    file += `${number} 0 obj${body}endobj\n`
  }
  const size = pageObject(pages.length)
  const end = `xref\n0 1\n0000000000 65535 f \n${table}trailer<</Size ${size}/Root 1 0 R${trailer}>>\nstartxref\n${file.length}\n%%EOF\n`
  return new Uint8Array(Buffer.from(file + end, 'latin1'))
}

export interface TextStyle {
  readonly size?: number
  readonly font?: 'F1' | 'F2' | 'F3' | 'F4'
  /** Operators before the text is shown. */
  readonly before?: string
}

/** Returns the operators that show a text. */
export function at(
  x: number,
  y: number,
  text: string,
  { size = 11, font = 'F1', before = '' }: TextStyle = {},
): string {
  const escaped = text.replaceAll(/[\\()]/g, String.raw`\$&`)
  return `BT /${font} ${size} Tf ${before} ${x} ${y} Td (${escaped}) Tj ET\n`
}

/** Returns the operators that show lines below each other. */
export const below = (x: number, y: number, lines: readonly string[], style: TextStyle = {}, pitch = 14): string =>
  lines.map((line, index) => at(x, y - index * pitch, line, style)).join('')

/** Returns the operators that draw a straight line. */
export const stroke = (x: number, y: number, toX: number, toY: number): string => `${x} ${y} m ${toX} ${toY} l S\n`
