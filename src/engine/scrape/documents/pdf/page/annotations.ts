/** Links and form fields of a page. */
import { isWebLink } from '../../office/office-xml.ts'
import { apply, type Matrix } from './matrix.ts'
import { type Box, boxAround, type Segment } from './page-content.ts'

interface Link {
  readonly box: Box
  readonly href: string
}

/** Height of the bands by which links are found, in points. */
const band = 16
/** Links of a band above which further ones are left out: no text is that dense. */
const maxBandLinks = 500

/** Links by the bands that they cover. */
export interface Links {
  readonly length: number
  readonly bands: ReadonlyMap<number, readonly Link[]>
}

interface Annotation {
  readonly subtype?: string
  readonly rect?: readonly number[]
  readonly url?: string
  readonly unsafeUrl?: string
  readonly fieldType?: string
  readonly fieldValue?: unknown
  /** Texts of the values of a choice. */
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[]
  readonly password?: boolean
  readonly hidden?: boolean
}

/** Returns links, and the values of fields, which are drawn only if the PDF has an appearance for them. */
export function annotationsOf(annotations: readonly object[], transform: Matrix) {
  const bands = new Map<number, Link[]>()
  const fields: { box: Box; segment: Segment }[] = []
  let length = 0
  for (const annotation of annotations as readonly Annotation[]) {
    const { subtype, rect, url, hidden } = annotation
    if (!rect || hidden) continue
    const box = placedBox(rect, transform)
    if (subtype === 'Link' && url !== undefined && isWebLink(url)) {
      length++
      for (let at = Math.floor(box.top / band); at <= Math.min(box.bottom / band, box.top / band + 100); at++) {
        const links = bands.get(at)
        if (links && links.length < maxBandLinks) links.push({ box, href: url })
        else if (!links) bands.set(at, [{ box, href: url }])
      }
    }
    const value = subtype === 'Widget' ? valueOf(annotation) : ''
    if (value !== '') fields.push({ box, segment: fieldSegment(box, value) })
  }
  return { links: { length, bands } satisfies Links, fields }
}

/** Returns the text of a field; a password and the state of a button have none. */
function valueOf({ fieldType, fieldValue, options = [], password }: Annotation): string {
  if (fieldType === 'Btn' || password) return ''
  const values: unknown[] = Array.isArray(fieldValue) ? fieldValue : [fieldValue]
  const texts = values.filter((value) => typeof value === 'string')
  return texts
    .map((value) => options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value)
    .join(', ')
    .trim()
}

export const linkAt = ({ bands }: Links, x: number, y: number): string | undefined =>
  bands.get(Math.floor(y / band))?.find(({ box }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)
    ?.href

function placedBox([left = 0, bottom = 0, right = 0, top = 0]: readonly number[], transform: Matrix): Box {
  const points = [apply(transform, left, bottom), apply(transform, right, top)]
  return boxAround(points.map(([x, y]) => ({ left: x, right: x, top: y, bottom: y })))
}

function fieldSegment(box: Box, text: string): Segment {
  const size = Math.max(4, Math.min(11, box.bottom - box.top))
  const baseline = (box.top + box.bottom) / 2 + size * 0.35
  return { ...box, top: baseline - size * 0.8, bottom: baseline, runs: [{ text }], text, size, bold: false, mark: -1 }
}
