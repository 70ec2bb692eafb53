/** The copies of pages in a replay: as many as fit, compressed, with those around failures first. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Redaction } from './redaction.ts'
import type { ReplayStep, StoredPage } from './recorder.ts'
import type { Missing } from './capture.ts'

const compress = promisify(gzip)

/** A copy as the viewer reads it. */
export interface ViewedPage {
  readonly width: number
  readonly height: number
  readonly x: number
  readonly y: number
  /** Numbers of the parts of its HTML. */
  readonly parts?: readonly number[]
  /** JPEG in base64. */
  readonly picture?: string
}

export interface PackedPages {
  /** Compressed JSON in base64. */
  readonly data: string
  /** Names of the copies that it contains, such as `3-before`. */
  readonly names: ReadonlySet<string>
  readonly omitted: number
}

type NamedPage = readonly [name: string, page: StoredPage]

const isPage = (page: StoredPage | Missing | undefined): page is StoredPage =>
  page !== undefined && (('parts' in page && page.parts !== undefined) || 'picture' in page)

/** Returns all copies, the most useful first: at failures, at the ends, and then evenly distributed. */
function byUse(steps: readonly ReplayStep[]): NamedPage[] {
  const failed = steps.flatMap(({ result }, at) => (result.success || result.skipped ? [] : [at]))
  const distance = (at: number) =>
    Math.min(at, steps.length - 1 - at, ...failed.slice(0, 20).map((other) => Math.abs(other - at)))
  const spread = (at: number) => (at % 8 === 0 ? 0 : at % 4 === 0 ? 1 : at % 2 === 0 ? 2 : 3)
  const order = (at: number) => (distance(at) <= 2 ? distance(at) - 3 : spread(at))
  return [...steps.entries()]
    .toSorted(([a], [b]) => order(a) - order(b))
    .flatMap(([at, { before, after }]) => [
      ...(isPage(before) ? [[`${at + 1}-before`, before] as const] : []),
      ...(isPage(after) ? [[`${at + 1}-after`, after] as const] : []),
    ])
}

/** Packs as many copies as fit into `bytes` of base64. */
export async function packPages(
  steps: readonly ReplayStep[],
  parts: readonly string[],
  redaction: Redaction,
  bytes: number,
): Promise<PackedPages> {
  const all = byUse(steps)
  const clean = parts.map((part) => redaction.text(part))
  let taken = all
  for (;;) {
    const data = (await compress(JSON.stringify(contentOf(taken, clean)))).toString('base64')
    if (data.length <= bytes || taken.length === 0)
      return { data, names: new Set(taken.map(([name]) => name)), omitted: all.length - taken.length }
    // Parts are shared, so that the size is not proportional to the number of copies.
    taken = taken.slice(
      0,
      Math.floor(Math.min(taken.length - 1, taken.length * Math.max(0.5, (bytes / data.length) * 0.95))),
    )
  }
}

function contentOf(pages: readonly NamedPage[], parts: readonly string[]) {
  const used = [...new Set(pages.flatMap(([, page]) => page.parts ?? []))].toSorted((a, b) => a - b)
  const numbers = new Map(used.map((part, at) => [part, at]))
  const viewed = pages.map(([name, page]): readonly [string, ViewedPage] => {
    const { width, height, scrollX: x, scrollY: y, picture } = page
    const own = page.parts?.map((part) => numbers.get(part)!)
    return [name, { width, height, x, y, ...(own && { parts: own }), ...(picture !== undefined && { picture }) }]
  })
  return { parts: used.map((part) => parts[part]!), pages: Object.fromEntries(viewed) }
}
