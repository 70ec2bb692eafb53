/** Reads the llms.txt of a site, and those that it links to. */
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LlmsEntry } from '../../../core/shapes/jobs/sources.ts'
import { isLlmsFile, pagesOfMarkdown } from '../../scrape/markdown/markdown-urls.ts'
import { readLlmsFile } from '../../scrape/markdown/markdown-sites.ts'
import type { RunFacts } from '../run-facts.ts'
import type { Robots } from './robots.ts'
import { crawlableUrl } from './url-identity.ts'

export interface LlmsFacts extends Pick<RunFacts, 'egress' | 'answers' | 'plan'> {
  readonly robots: Robots
  readonly origin: string
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

/**
 * Returns the entries in their order, each once. The Markdown of a page that was found already has the URL of the page,
 * so that it is not visited twice.
 */
export async function llmsOf(facts: LlmsFacts, hasFound: (url: string) => boolean): Promise<LlmsEntry[]> {
  const { origin, plan } = facts
  const queue = [`${origin}/llms.txt`]
  const found = new Map<string, LlmsEntry>()
  // Further files are added to the queue meanwhile.
  for (const url of queue) {
    for (const entry of await entriesOf(url, facts)) {
      const link = crawlableUrl(entry.url)?.href
      if (link === undefined) continue
      if (isLlmsFile(link)) {
        const isNew = link.startsWith(`${origin}/`) && link.endsWith('/llms.txt') && !queue.includes(link)
        if (isNew && queue.length < limits.crawl.llmsFiles) queue.push(link)
        continue
      }
      const page = pagesOfMarkdown(link).find(hasFound) ?? link
      if (!found.has(page) && found.size < limits.crawl.llmsEntries) found.set(page, { ...entry, url: page })
    }
  }
  if (found.size === 0 && plan.input.llms === 'only') facts.onWarning('no llms.txt lists any URL')
  if (found.size >= limits.crawl.llmsEntries)
    facts.onWarning(`only the first ${limits.crawl.llmsEntries} links of llms.txt were read`)
  return [...found.values()]
}

/** Returns the entries of one file, which is cached once it has been read; reports errors as warnings. */
async function entriesOf(
  url: string,
  { answers, egress, robots, signal, onWarning }: LlmsFacts,
): Promise<readonly LlmsEntry[]> {
  const kept = answers.site(url) as { entries: LlmsEntry[] } | undefined
  if (kept) return kept.entries
  if (!(await robots.rulesFor(new URL(url))).allows(url)) return []
  try {
    const { entries = [], isCut } = (await readLlmsFile(url, { egress, signal })) ?? {}
    if (isCut) onWarning(`only the first ${limits.scrape.llmsBytes / 1024} KB of ${url} were read`)
    answers.keepSite(url, { entries })
    return entries
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof BaxError)) throw error
    // A type that cannot be scraped, and a redirect elsewhere, are not such a file.
    if (!/^(?:unsupported_content_type|too_many_redirects|url_blocked)$/.test(error.code))
      onWarning(`${url} could not be read: ${error.message}`)
    return []
  }
}
