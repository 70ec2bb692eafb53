/** Finds visible text on a page and in its frames, and describes pages in errors. */
import type { Frame, Page } from 'playwright'
import { withDeadline } from '../../core/process/deadline.ts'
import { squeeze } from '../../core/text/pieces.ts'

/** Time for the answer of one frame, so that one that hangs does not hide the others. */
const frameMs = 1000
const excerptChars = 200

/** Returns the text of the first visible element that contains `text`, in upper or lower case; null without one. */
export async function shownText(page: Page, text: string): Promise<string | null> {
  const [main, ...others] = page.frames()
  const here = await inFrame(main!, text)
  if (here !== null) return here
  const framed = await Promise.all(
    others.map((frame) =>
      // A frame can close or hang meanwhile.
      withDeadline(inFrame(frame, text), { ms: frameMs, value: null }).catch(() => null),
    ),
  )
  return framed.find((found) => found !== null) ?? null
}

async function inFrame(frame: Frame, text: string): Promise<string | null> {
  const all = frame.getByText(text).filter({ visible: true })
  if ((await all.count()) === 0) return null
  // The element can go between both calls; the text was there.
  const shown = await all
    .first()
    .textContent({ timeout: frameMs })
    .catch(() => text)
  return shortened(shown ?? text)
}

/** Describes the text of a page for an error message. */
export async function excerptOf(page: Page): Promise<string> {
  const reading = page.evaluate(() => document.documentElement.innerText ?? '')
  const text = await withDeadline(reading, { ms: frameMs }).catch(() => null)
  if (text === null) return `${shortened(page.url())} does not answer`
  const shown = shortened(text)
  const url = shortened(page.url())
  return shown === '' ? `${url} has no text` : `${url} shows ${JSON.stringify(shown)}`
}

/** Returns a text on one line, cut when it is long. */
export function shortened(text: string): string {
  const line = squeeze(text)
  return line.length > excerptChars ? `${line.slice(0, excerptChars - 1)}…` : line
}

/** Describes the requests that a page still waits for, the latest one by its URL; nothing without any. */
export function waitsFor(urls: readonly string[]): string {
  const latest = shortened(urls.at(-1) ?? '')
  if (urls.length < 2) return urls.length === 0 ? '' : `: 1 request is open: ${latest}`
  return `: ${urls.length} requests are open, such as ${latest}`
}

/** Returns a check for a text that ignores case, and the kind and number of spaces. */
export function containing(text: string): (content: string) => boolean {
  const needle = squeezed(text)
  return (content) => squeezed(content).includes(needle)
}

const squeezed = (text: string) => squeeze(text).toLowerCase()
