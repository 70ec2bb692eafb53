/** What is done with HTML that was fetched, from plain data to plain data: the same here and in a thread. */
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { AnswerHeaders } from '../render/answer-headers.ts'
import { decodeText } from '../render/charset.ts'
import { needsBrowser, type Reason } from '../render/decide.ts'
import type { FetchedPage } from '../render/fetch.ts'
import { metaRefresh } from '../render/meta-refresh.ts'
import { templateOf } from '../render/template.ts'
import { htmlDocument } from './documents/read.ts'
import { holdsFrames } from './framed.ts'
import { linksOf } from './links.ts'
import type { ScrapePlan } from './plan.ts'
import { writePage } from './write.ts'

/** When the page is written: always, never, or unless its markup gives a reason for a browser that is not listed. */
export type WriteWish = 'always' | 'never' | readonly Reason[]

export interface ReadingTask {
  readonly plan: ScrapePlan
  readonly fetched: Omit<FetchedPage, 'headers'> & { readonly headers: readonly (readonly [string, string])[] }
  readonly write: WriteWish
}

/** A page that was read; what is made of its tree takes less room than the tree. */
export interface PageReading {
  readonly charset: string
  /** Characters of its HTML. */
  readonly size: number
  readonly template?: string
  readonly reason?: Reason
  /** Addresses that it links to. */
  readonly links: readonly string[]
  readonly answer?: ScrapeAnswer
}

/** What was read; the address that a page soon leads to; nothing of a page that has to be put together from several. */
export type Reading = { readonly page: PageReading } | { readonly next: string } | undefined

export async function readHtml({ plan, fetched, write }: ReadingTask): Promise<Reading> {
  const start = performance.now()
  const headers = new AnswerHeaders(fetched.headers)
  const { text, charset } = await decodeText(fetched.bytes, headers.get('content-type'), { declares: true })
  if (holdsFrames(text)) return undefined
  const document = htmlDocument(text, charset, fetched.url)
  const { tree } = document
  const next = metaRefresh(tree, fetched.url)
  if (next !== undefined) return { next }
  const template = templateOf(tree.root)
  const reason = needsBrowser(tree.root)
  const isWritten = write === 'always' || (write !== 'never' && (reason === undefined || write.includes(reason)))
  const page = { ...fetched, headers, document, render: 'http', warnings: [] } as const
  return {
    page: {
      charset,
      size: text.length,
      ...(template !== undefined && { template }),
      ...(reason && { reason }),
      links: linksOf(tree).map(({ href }) => href),
      ...(isWritten && { answer: await writePage(plan, page, { start, reader: { model: undefined, rules: true } }) }),
    },
  }
}
