/** The format changeTracking: compares a page with the version that the same caller scraped before. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ChangeTracking, TrackingOptions } from '../../core/shapes/jobs/changes.ts'
import type { ScrapeData, ScrapeInput } from '../../core/shapes/scrape.ts'
import type { PageVersion, PageVersionStore } from '../../core/stores.ts'
import { askModel } from '../extract/structured/ask.ts'
import { cutToBudget } from '../extract/structured/relevance.ts'
import { isRecord, properSchema } from '../extract/structured/shape.ts'
import { checkFor } from '../extract/structured/validate.ts'
import type { LanguageModel } from '../language/model.ts'
import { changeOf } from './change.ts'

/** Part of the plan of a scrape that change tracking uses. */
interface TrackedPlan {
  readonly url: string
  readonly input: Pick<
    ScrapeInput,
    'only_main_content' | 'include_tags' | 'exclude_tags' | 'remove_base64_images' | 'skip_tls_verification'
  >
  /** Options of the format changeTracking, if it is requested. */
  readonly tracking?: Partial<TrackingOptions>
}

export interface TrackedPage {
  readonly plan: TrackedPlan
  readonly page: ScrapeData
  /** ID of the caller's key; null without keys. */
  readonly owner: string | null
  /** ID of the crawl that visits the page. It compares each page with the version before the crawl, also if it resumes. */
  readonly run?: string
  readonly model?: LanguageModel | undefined
  readonly signal: AbortSignal
}

export interface Tracked {
  readonly change?: ChangeTracking
  readonly warning?: string
}

/** Compares a page, and keeps it for the next comparison. Failures are warnings, because the page itself is there. */
export async function trackPage(store: PageVersionStore, tracked: TrackedPage): Promise<Tracked> {
  try {
    const { markdown = '', metadata } = tracked.page
    const { status_code: status = 200 } = metadata
    if (status >= 400 && status !== 404 && status !== 410) return missing(`the page answered ${status}`)
    if (markdown.length > limits.changes.versionChars) return missing('the page is too large')
    return await compare(store, tracked)
  } catch (error) {
    tracked.signal.throwIfAborted()
    return missing(asBaxError(error).message)
  }
}

const missing = (why: string): Tracked => ({ warning: `changeTracking is missing: ${why}` })

async function compare(
  store: PageVersionStore,
  { plan, page, owner, run, model, signal }: TrackedPage,
): Promise<Tracked> {
  const { modes = [] } = plan.tracking!
  const key = { owner, page: pageKey(plan) }
  const kept = await store.find(key)
  const before = run !== undefined && kept?.run === run ? kept.before : kept
  const earlier = before && versionOf(before)
  const change = changeOf(
    page,
    earlier && { page: pageOf(earlier, page), at: earlier.at },
    modes.includes('git-diff') ? 'git' : 'none',
  )
  const { markdown = '', metadata } = page
  const version = { at: new Date().toISOString(), status: metadata.status_code ?? 200, markdown }
  await store.save(key, { ...version, ...(run !== undefined && { run, ...(earlier && { before: earlier }) }) })
  if (change.changeStatus !== 'changed' || !modes.includes('json') || !model) return { change }
  try {
    const versions = await Promise.all([earlier!, version].map((one) => dataOf(plan, one.markdown, model)))
    return { change: { ...change, json: changedFields(versions[0], versions[1]) } }
  } catch (error) {
    signal.throwIfAborted()
    return { change, warning: `changeTracking.json is missing: ${asBaxError(error).message}` }
  }
}

const versionOf = ({ at, status, markdown }: PageVersion) => ({ at, status, markdown })

const pageOf = ({ status, markdown }: PageVersion, { metadata: { sourceURL } }: ScrapeData) => ({
  markdown,
  metadata: { sourceURL, status_code: status },
})

/** Identifies a page by its URL, the tag, the options that shape its Markdown, and whether its origin was verified. */
function pageKey({ url, tracking, input }: TrackedPlan): string {
  const { only_main_content: main, remove_base64_images: images, include_tags: include, exclude_tags: exclude } = input
  const tags = include || exclude ? [include ?? [], exclude ?? []] : []
  const facts = [url.replace(/#.*/s, ''), tracking!.tag ?? null, main, images, ...tags]
  // Somebody in between may have written a version that was read without verification.
  if (input.skip_tls_verification) facts.push('unverified')
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** Extracts data from a version with the language model. @throws BaxError `model_failed`, `timeout` */
async function dataOf({ url, tracking }: TrackedPlan, markdown: string, model: LanguageModel): Promise<unknown> {
  const schema = tracking!.schema ? properSchema(tracking!.schema) : undefined
  const query = tracking!.prompt ?? ''
  const text = cutToBudget(markdown, `${query} ${JSON.stringify(schema ?? {})}`, limits.model.pageChars)
  const check = schema ? checkFor(schema) : () => []
  const { value, errors } = await askModel(model, { query, schema }, { url, text, data: '' }, check)
  if (errors.length > 0) throw new BaxError('model_failed', `the extracted data does not fit: ${errors.join('; ')}`)
  return value
}

/** Returns the fields whose values differ; those of another value than an object are in `value`. */
function changedFields(previous: unknown, current: unknown): NonNullable<ChangeTracking['json']> {
  const [old, fresh] =
    isRecord(previous) && isRecord(current) ? [previous, current] : [{ value: previous }, { value: current }]
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].filter(
    (name) => !isDeepStrictEqual(old[name], fresh[name]),
  )
  // JSON has no undefined: a missing field is null.
  return Object.fromEntries(names.map((name) => [name, { previous: old[name] ?? null, current: fresh[name] ?? null }]))
}
