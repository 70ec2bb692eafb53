/** Images and style sheets of copied pages, as the browser has them: nothing is fetched for a replay. */
import type { CDPSession, Page } from 'playwright'
import { limits } from '../../../core/limits/limits.ts'

const { resourceBytes, imagesBytes } = limits.replay

interface Places {
  readonly token: string
  readonly images: readonly string[]
  readonly sheets: readonly string[]
}

interface Resource {
  readonly mimeType: string
  readonly frameId: string
}

export class Resources {
  readonly #images = new Map<string, string | null>()
  readonly #sheets = new Map<string, string | null>()
  readonly #sessions = new WeakMap<Page, Promise<CDPSession>>()
  #bytes = 0

  /** Puts the images and style sheets into their places; `missing` counts those that are unavailable or too large. */
  async fill(page: Page, html: string, { token, images, sheets }: Places): Promise<{ html: string; missing: number }> {
    const unknown = images.some((url) => !this.#images.has(url)) || sheets.some((url) => !this.#sheets.has(url))
    if (unknown) await this.#load(page, images, sheets)
    const contents = {
      image: images.map((url) => this.#images.get(url) ?? ''),
      sheet: sheets.map((url) => this.#sheets.get(url) ?? ''),
    }
    const places = new RegExp(`${token}-(image|sheet)-(\\d+);`, 'g')
    const filled = html.replaceAll(places, (_, kind: 'image' | 'sheet', at: string) => contents[kind][Number(at)] ?? '')
    return { html: filled, missing: [...contents.image, ...contents.sheet].filter((text) => text === '').length }
  }

  async #load(page: Page, images: readonly string[], sheets: readonly string[]): Promise<void> {
    const session = await this.#sessionOf(page)
    const known = await listResources(session)
    for (const url of images) {
      if (!this.#images.has(url)) this.#images.set(url, this.#imageOf(await contentOf(session, known, url)))
    }
    for (const url of sheets) {
      if (this.#sheets.has(url)) continue
      const css = (await contentOf(session, known, url))?.bytes.toString()
      this.#sheets.set(url, css === undefined ? null : escapeSheet(css))
    }
  }

  /**
   * Returns a CDP session of its own for a page: it has to be enabled for pages, and the others must not be. It stays
   * until the page closes: Chromium removes the virtual authenticators of a page when any session of it ends.
   */
  #sessionOf(page: Page): Promise<CDPSession> {
    let opened = this.#sessions.get(page)
    if (!opened) {
      opened = openSession(page)
      this.#sessions.set(page, opened)
      const forget = () => this.#sessions.delete(page)
      opened.then((session) => session.once('close', forget), forget)
    }
    return opened
  }

  #imageOf(content: Loaded | undefined): string | null {
    if (!content || !/^image\/[\w.+-]+$/.test(content.mimeType)) return null
    const { bytes, mimeType } = content
    if (this.#bytes + bytes.length > imagesBytes) return null
    this.#bytes += bytes.length
    return `data:${mimeType};base64,${bytes.toString('base64')}`
  }
}

async function openSession(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.enable')
  return session
}

interface Loaded {
  readonly mimeType: string
  readonly bytes: Buffer
}

/** Removes what could end the style sheet, or load more; the policy of the replay refuses other requests. */
const escapeSheet = (css: string): string =>
  css
    .replaceAll(/@import[^;]*;?/gi, '')
    .replaceAll(/url\(\s*["']?(?!["']?data:image)[^)]*\)/gi, 'none')
    .replaceAll('</', '<\\/')

async function listResources(session: CDPSession): Promise<Map<string, Resource>> {
  const found = new Map<string, Resource>()
  type Tree = Awaited<ReturnType<typeof readTree>>['frameTree']
  const readTree = () => session.send('Page.getResourceTree')
  const visit = ({ frame, resources, childFrames = [] }: Tree) => {
    for (const { url, mimeType } of resources) found.set(url, { mimeType, frameId: frame.id })
    for (const child of childFrames) visit(child)
  }
  visit((await readTree()).frameTree)
  return found
}

async function contentOf(
  session: CDPSession,
  known: ReadonlyMap<string, Resource>,
  url: string,
): Promise<Loaded | undefined> {
  const resource = known.get(url)
  if (!resource) return undefined
  const { frameId, mimeType } = resource
  try {
    const { content, base64Encoded } = await session.send('Page.getResourceContent', { frameId, url })
    const bytes = Buffer.from(content, base64Encoded ? 'base64' : 'utf8')
    return bytes.length > resourceBytes ? undefined : { mimeType, bytes }
  } catch (error) {
    // The browser no longer has it; counted as missing.
    if (/unavailable|not cached|No resource/i.test(String(error))) return undefined
    throw error
  }
}
