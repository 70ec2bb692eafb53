/** Reads fetched and rendered pages; input and output are plain data, so that it can run in a worker thread. */
import { limits } from '../../core/limits/limits.ts'
import { ResponseHeaders } from '../egress/response-headers.ts'
import { decodeText } from '../render/http/charset.ts'
import type { TextKind } from '../render/http/content-kind.ts'
import { needsBrowser, type Reason } from '../render/decide/page-reason.ts'
import { metaRefresh } from '../render/http/web-url.ts'
import { templateOf } from '../render/decide/template.ts'
import { hasText, isReadableTree } from './content/content.ts'
import { present } from './documents/document.ts'
import { htmlDocument, readDocument } from './documents/read.ts'
import { hrefsOf } from './formats/links.ts'
import { loginOf } from './identity/login.ts'
import { markdownLinkOf } from './markdown/markdown-links.ts'
import type { LoadedPage, PageReading } from './loaded-page.ts'
import type { ScrapePlan } from './plan.ts'
import { writePage } from './write.ts'

/** When to write the answer: always, never, or unless a browser is needed for a reason that is not listed. */
export type WriteCondition = 'always' | 'never' | readonly Reason[]

/** The bytes of a fetched page, or the text of a rendered one; `raw` is the HTML that the browser received. */
type Source =
  | { readonly bytes: Uint8Array }
  | { readonly text: string; readonly charset: string; readonly raw?: string }

/** A page before parsing. */
export interface UnreadPage extends Omit<LoadedPage, 'document' | 'reading'> {
  readonly kind: TextKind
  readonly source: Source
  /** Whether a redirect in the page is not followed, because it leads to no other page. */
  readonly stays?: boolean
}

export interface ReadingTask {
  readonly plan: ScrapePlan
  readonly page: Omit<UnreadPage, 'headers'> & { readonly headers: readonly (readonly [string, string])[] }
  readonly write: WriteCondition
  /** Whether rules may extract structured data and summaries. */
  readonly rules: boolean
}

/** The results, or the URL of a redirect in the page; undefined for a page whose frames have to be read too. */
export type Reading = { readonly page: PageReading } | { readonly next: string } | undefined

export const readPage = (task: ReadingTask): Promise<Reading> =>
  task.page.kind === 'html' ? readHtml(task) : readOther(task)

async function readHtml({
  plan,
  page: { source, stays = false, ...task },
  write,
  rules,
}: ReadingTask): Promise<Reading> {
  const start = performance.now()
  const headers = new ResponseHeaders(task.headers)
  const { text, charset } =
    'text' in source ? source : await decodeText(source.bytes, headers.get('content-type'), { declares: true })
  const document = await htmlDocument({ text, charset, url: task.url }, headers)
  const { tree } = document
  const isFramed = holdsFrames(text)
  if (isFramed && !isLarge(text) && (await import('./content/frames.ts')).hasOwnFrames(tree, task.url)) return undefined
  const next = 'text' in source || stays ? undefined : metaRefresh(tree, task.url)
  if (next !== undefined) return { next }
  const template = templateOf(tree.root)
  const reason = needsBrowser(tree.root)
  const isWritten = write === 'always' || (write !== 'never' && (reason === undefined || write.includes(reason)))
  const raw = 'raw' in source ? { raw: source.raw } : {}
  const warnings = isFramed && isLarge(text) ? [...task.warnings, framesWarning] : task.warnings
  const page = { ...task, headers, warnings, document: { ...document, ...raw } }
  return {
    page: {
      charset,
      size: text.length,
      ...(template !== undefined && { template }),
      ...(reason && { reason, isReadable: isReadableTree(tree) }),
      hasText: hasText(tree),
      links: hrefsOf(tree),
      ...present({ markdownUrl: markdownLinkOf(tree, headers), loginUrl: loginOf(tree, page) }),
      ...(isWritten && { written: await writePage(plan, page, { start, extractors: { model: undefined, rules } }) }),
    },
  }
}

/** Reads content other than HTML, which is never rendered and has no redirects. */
async function readOther({ plan, page: { source, ...task }, write, rules }: ReadingTask): Promise<Reading> {
  const start = performance.now()
  const headers = new ResponseHeaders(task.headers)
  const bytes = 'bytes' in source ? source.bytes : Buffer.from(source.text)
  const { document } = await readDocument({ ...task, headers, bytes }, { signal: never })
  const warnings = document.warning ? [...task.warnings, document.warning] : task.warnings
  const page = { ...task, headers, warnings, document }
  return {
    page: {
      charset: document.charset!,
      size: document.raw!.length,
      links: hrefsOf(document.tree),
      ...(write !== 'never' && {
        written: await writePage(plan, page, { start, extractors: { model: undefined, rules } }),
      }),
    },
  }
}

/** Whether HTML text has frames, whose content is fetched before the page is read. */
export const holdsFrames = (html: string): boolean => /<i?frame\b/i.test(html)

/** The warning about a page whose frames are not read. */
export const framesWarning = 'frames are missing: the page is too large to read them too'

/** A cancelled task ends its thread, so the work needs no signal. */
const never = new AbortController().signal

/** Whether a page of this size, in bytes or characters, is read in a worker thread. */
export const isLarge = ({ length }: { readonly length: number }): boolean => length >= limits.reading.large
