/** What is done with a page that was had, from plain data to plain data: the same here and in a thread. */
import { limits } from '../../core/limits/limits.ts'
import type { ScrapeAnswer } from '../../core/shapes/scrape.ts'
import { AnswerHeaders } from '../render/http/response-headers.ts'
import { decodeText } from '../render/http/charset.ts'
import type { TextKind } from '../render/http/content-kind.ts'
import { needsBrowser, type Reason } from '../render/decide/decide.ts'
import type { Tree } from '../extract/tree.ts'
import { metaRefresh } from '../render/http/meta-refresh.ts'
import { templateOf } from '../render/decide/template.ts'
import { readableLength } from './content/content.ts'
import { htmlDocument, readDocument } from './documents/read.ts'
import { framesLeft, holdsFrames } from './content/framed.ts'
import { linksOf } from './formats/links.ts'
import type { ObtainedPage } from './load-page.ts'
import type { ScrapePlan } from './plan.ts'
import { writePage } from './write.ts'

/** When the page is written: always, never, or unless its markup gives a reason for a browser that is not listed. */
export type WriteWish = 'always' | 'never' | readonly Reason[]

/** A page as it came, or as a browser has it; `raw` is what the browser was sent. */
type Source =
  | { readonly bytes: Uint8Array }
  | { readonly text: string; readonly charset: string; readonly raw?: string }

/** A page that nobody has looked at. */
export interface UnreadPage extends Omit<ObtainedPage, 'document' | 'reading'> {
  readonly kind: TextKind
  readonly source: Source
}

export interface ReadingTask {
  readonly plan: ScrapePlan
  readonly page: Omit<UnreadPage, 'headers'> & { readonly headers: readonly (readonly [string, string])[] }
  readonly write: WriteWish
  /** Whether structured data and summaries may come from rules. */
  readonly rules: boolean
}

/** A page that was read; what is made of its tree takes less room than the tree. */
export interface PageReading {
  readonly charset: string
  /** Characters of its text. */
  readonly size: number
  readonly template?: string
  readonly reason?: Reason
  /** Whether there is something to read in it as it was sent; told where there is a reason. */
  readonly isReadable?: boolean
  /** Addresses that it links to. */
  readonly links: readonly string[]
  readonly answer?: ScrapeAnswer
}

/** What was read; the address that a page soon leads to; nothing of a page that has to be put together from several. */
export type Reading = { readonly page: PageReading } | { readonly next: string } | undefined

export const readPage = (task: ReadingTask): Promise<Reading> =>
  task.page.kind === 'html' ? readHtml(task) : readOther(task)

async function readHtml({ plan, page: { source, ...task }, write, rules }: ReadingTask): Promise<Reading> {
  const start = performance.now()
  const headers = new AnswerHeaders(task.headers)
  const { text, charset } = 'text' in source ? source : await decodeText(source.bytes, headers.get('content-type'), { declares: true }) // prettier-ignore
  const isFramed = holdsFrames(text)
  if (isFramed && !isLarge(text)) return undefined
  const document = htmlDocument(text, charset, task.url)
  const { tree } = document
  const next = 'text' in source ? undefined : metaRefresh(tree, task.url)
  if (next !== undefined) return { next }
  const template = templateOf(tree.root)
  const reason = needsBrowser(tree.root)
  const isWritten = write === 'always' || (write !== 'never' && (reason === undefined || write.includes(reason)))
  const raw = 'raw' in source ? { raw: source.raw! } : {}
  const warnings = isFramed ? [...task.warnings, framesLeft] : task.warnings
  const page = { ...task, headers, warnings, document: { ...document, ...raw } }
  return {
    page: {
      charset,
      size: text.length,
      ...(template !== undefined && { template }),
      ...(reason && { reason, isReadable: isReadableTree(tree) }),
      links: linksOf(tree).map(({ href }) => href),
      ...(isWritten && { answer: await writePage(plan, page, { start, reader: { model: undefined, rules } }) }),
    },
  }
}

/** What is no HTML is what it is: nothing renders it, and it leads nowhere. */
async function readOther({ plan, page: { source, ...task }, write, rules }: ReadingTask): Promise<Reading> {
  const start = performance.now()
  const headers = new AnswerHeaders(task.headers)
  const bytes = 'bytes' in source ? source.bytes : Buffer.from(source.text)
  const { document } = await readDocument({ ...task, headers, bytes }, never)
  const warnings = document.warning ? [...task.warnings, document.warning] : task.warnings
  const page = { ...task, headers, warnings, document }
  return {
    page: {
      charset: document.charset!,
      size: document.raw!.length,
      links: linksOf(document.tree).map(({ href }) => href),
      ...(write !== 'never' && { answer: await writePage(plan, page, { start, reader: { model: undefined, rules } }) }),
    },
  }
}

/** Whether what was sent of a page is worth keeping without the rest. */
export const isReadableTree = (tree: Tree): boolean => readableLength(tree) >= 200

/** Who gives up waiting for a thread ends it. */
const never = new AbortController().signal

/** Whether a page of so many bytes, or characters, is read in a thread. */
export const isLarge = ({ length }: { readonly length: number }): boolean => length >= limits.reading.large
