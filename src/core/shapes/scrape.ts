/** Data shapes of scraping: what is asked of a page, and what comes back (`spec: contract 7`). */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { jsonSchema } from './json-schema.ts'
import { selectorText, urlText } from './text.ts'

const { scrape } = limits

export const formatNames = [
  'markdown',
  'html',
  'rawHtml',
  'screenshot',
  'links',
  'images',
  'json',
  'summary',
  'branding',
] as const

/** What clients of Firecrawl say of themselves in every request. */
export const sender = {
  origin: z
    .string()
    .max(limits.input.labelChars)
    .optional()
    .meta({ offTerminal: true })
    .describe('What the client calls itself'),
  integration: z
    .string()
    .max(limits.input.labelChars)
    .optional()
    .meta({ offTerminal: true })
    .describe('What the client is part of'),
}

/** What the json format is to find. */
export const jsonOptions = z.object({
  prompt: z.string().min(1).max(20_000).optional().describe('What to extract, in words'),
  schema: jsonSchema.optional().describe('JSON schema of the answer'),
})

const format = z.union([
  z.enum([...formatNames, 'screenshot@fullPage']),
  z.object({ type: z.literal('json'), ...jsonOptions.shape }),
  z.object({
    type: z.literal('screenshot'),
    full_page: z.boolean().default(false).describe('The whole page instead of the viewport'),
  }),
  // Not those above: what is wrong with their options would go unsaid.
  z.object({ type: z.enum(formatNames).exclude(['json', 'screenshot']) }),
])

const selector = selectorText.describe('CSS selector')
const typed = z.string().max(limits.input.typedChars)

export const scrapeAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('click'), selector }),
  z
    .object({
      type: z.literal('wait'),
      milliseconds: z.number().min(0).max(scrape.waitForMs).optional(),
      selector: selector.optional().describe('Wait until this is visible'),
    })
    .refine((wait) => wait.milliseconds !== undefined || wait.selector !== undefined, {
      message: 'is required (or selector)',
      path: ['milliseconds'],
    }),
  z.object({
    type: z.literal('scroll'),
    direction: z.enum(['up', 'down', 'left', 'right']).default('down'),
    amount: z.number().min(0).max(1_000_000).optional().describe('Pixels; one viewport when not given'),
  }),
  z.object({ type: z.literal('type'), selector, text: typed }),
  z.object({
    type: z.literal('press'),
    key: z.string().min(1).max(100).describe('Key, e.g. Enter or Control+a'),
    selector: selector.optional().describe('Element to focus first'),
  }),
  z.object({ type: z.literal('screenshot'), full_page: z.boolean().default(false) }),
  z.object({ type: z.literal('execute'), script: z.string().min(1).describe('JavaScript; its value comes back') }),
  z.object({ type: z.literal('executeJavascript'), script: z.string().min(1).describe('The same as execute') }),
  z.object({ type: z.literal('write'), text: typed.describe('Typed into what has the focus') }),
  z.object({ type: z.literal('scrape') }).describe('Keep the HTML that the page has now'),
])

export const scrapeOptions = z.object({
  formats: z
    .array(format)
    .max(limits.input.names)
    .default(['markdown'])
    .describe(
      `Output formats: ${formatNames.join(', ')}, screenshot@fullPage; or objects {type:"json",prompt,schema}, {type:"screenshot",full_page}`,
    ),
  wait_for: z.number().min(0).max(scrape.waitForMs).default(0).describe('Milliseconds to wait after page load'),
  json_options: jsonOptions.optional().describe('For format json: prompt and schema'),
  only_main_content: z.boolean().default(true).describe('Strip navigation, header, footer'),
  remove_base64_images: z.boolean().default(true).describe('Remove inline base64 images'),
  render: z
    .enum(['auto', 'http', 'browser'])
    .default('auto')
    .describe('auto fetches by HTTP and starts a browser only for pages that need one'),
  timeout: z
    .number()
    .min(1)
    .max(scrape.maxTimeoutMs)
    .default(scrape.timeoutMs)
    .describe('Milliseconds for the whole scrape; wait_for and wait actions add to it'),
  max_age: z.number().min(0).default(0).describe('Milliseconds that an answer of this engine may be old; 0 = fresh'),
  block_ads: z.boolean().default(true).describe('Block advertisements'),
  remove_overlays: z.boolean().default(false).describe('Remove cookie banners and other layers above the page'),
})

export const scrapeInput = z.object({
  url: urlText.describe('Page to scrape; https:// when it has no scheme, http:// on loopback hosts'),
  ...scrapeOptions.shape,
  actions: z.array(scrapeAction).max(scrape.actions).default([]).describe('Actions run before extraction'),
  ...sender,
})

const text = z.string().optional()

/** What is wrong with a page that was read all the same. */
const warningCodes = ['empty_page', 'render_failed'] as const

/** A warning, and what kind of warning it is. */
export const warned = {
  warning: text,
  warning_code: z
    .enum(warningCodes)
    .optional()
    .describe(
      'empty_page: no visible text, or only a notice such as "Loading", after waiting; render_failed: the page as it was fetched, because it could not be rendered',
    ),
}

export const scrapeMetadata = z
  .object({
    title: text,
    description: text,
    sourceURL: z.string().describe('The address as it was asked for'),
    url: z.string().optional().describe('The address after all redirects'),
    status_code: z.int().optional(),
    error: z.string().optional().describe('What the status code says, from 400 on'),
    content_type: text,
    charset: text,
    language: text,
    author: text,
    published_time: text,
    modified_time: text,
    canonical: text,
    favicon: text,
    robots: text,
    ogTitle: text,
    ogDescription: text,
    ogImage: text,
    ogUrl: text,
    ogType: text,
    ogSiteName: text,
    ogLocale: text,
    redirects: z.array(z.object({ url: z.string(), status: z.int() })).optional(),
    scrape_id: z.string().optional(),
    duration_ms: z.int().optional(),
    render: z.enum(['http', 'browser']).optional(),
    num_pages: z.int().optional().describe('Pages of a PDF'),
    summary_source: z.enum(['extractive', 'model']).optional(),
    json_source: z.enum(['heuristic', 'model']).optional(),
    json_valid: z.boolean().optional(),
    json_errors: z.array(z.string()).optional(),
    cached_at: z.iso.datetime().optional().describe('When the answer was made, if it comes from the cache (max_age)'),
  })
  .meta({ id: 'ScrapeMetadata' })

export const scrapeData = z
  .object({
    markdown: text,
    html: z.string().optional().describe('HTML without scripts'),
    rawHtml: z.string().optional().describe('The response body as decoded'),
    screenshot: z.string().optional().describe('PNG, base64'),
    links: z.array(z.object({ href: z.string(), text: z.string() })).optional(),
    images: z.array(z.object({ src: z.string(), alt: z.string() })).optional(),
    json: z.unknown().optional(),
    summary: z.string().optional().describe('2-3 sentences'),
    branding: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('colorScheme, brandName, logo, favicon, fonts, colors, typography, spacing, components, images'),
    actions: z
      .object({
        screenshots: z.array(z.string()).describe('PNG, base64, one per screenshot action'),
        results: z.array(z.object({ index: z.int(), value: z.unknown() })).describe('Values of execute actions'),
        scrapes: z
          .array(z.object({ url: z.string(), html: z.string() }))
          .optional()
          .describe('What scrape actions kept'),
      })
      .optional(),
    metadata: scrapeMetadata,
    ...warned,
  })
  .meta({ id: 'ScrapeResult' })

export const scrapeAnswer = z
  .object({
    success: z.boolean(),
    data: scrapeData.optional().describe('Absent when the page could not be had'),
    ...warned,
    error: text,
    code: text,
  })
  .meta({ id: 'ScrapeAnswer' })

export type WarningCode = (typeof warningCodes)[number]
export type FormatName = (typeof formatNames)[number]
export type ScrapeInput = z.output<typeof scrapeInput>
export type ScrapeAction = z.output<typeof scrapeAction>
export type ScrapeMetadata = z.output<typeof scrapeMetadata>
export type ScrapeData = z.output<typeof scrapeData>
export type ScrapeAnswer = z.output<typeof scrapeAnswer>
