/** Tools that read the web without a session. */
import { z } from 'zod'
import { extract_structured_content } from '../../commands/content.ts'
import type { Input } from '../../client/calls.ts'
import { certificateHint } from '../../core/errors/certificates.ts'
import { limits } from '../../core/limits/limits.ts'
import { outlineText, sectionIn, sectionsOf } from '../../core/text/markdown/markdown-sections.ts'
import { textPart } from '../../core/text/text-part.ts'
import { readAttributeSelector } from '../../core/operation/attribute-selector.ts'
import { operations } from '../../operations/index.ts'
import { defineTool, PageFailure, type ToolAnswer } from '../tool.ts'
import { identity, readAs } from './identity.ts'
import type { ScrapeData } from '../../core/shapes/scrape.ts'
import { excerpts } from '../../core/text/excerpts.ts'

const { url, render, only_main_content, json_options } = operations.scrape.input.shape
const { schema } = extract_structured_content.data.shape
const { prompt } = json_options.unwrap().shape
const length = z.int().min(1).max(limits.observe.maxChars).default(limits.mcp.pageChars)

export const webScrape = defineTool({
  name: 'web_scrape',
  description:
    'Read a URL as Markdown, or as JSON if prompt, schema, product or attributes is given. PDF and Office files work, too.',
  uses: [operations.scrape],
  effect: 'read',
  input: z.object({
    url: url.describe(''),
    schema: schema.describe('JSON Schema of the result'),
    prompt: prompt.describe('What to extract as JSON'),
    product: z.boolean().default(false).describe('Product facts'),
    attributes: z.array(z.string()).max(limits.input.names).optional().describe('Such as a.next@href'),
    outline: z.boolean().default(false).describe('Only headings'),
    section: z.string().min(1).max(limits.input.labelChars).optional().describe('Only this section'),
    find: z.string().min(1).max(limits.input.labelChars).optional().describe('Only passages with these words'),
    only_main_content: only_main_content.describe(''),
    render: render.describe(''),
    identity: identity.describe('Reader: profile, session_id, headers, cookies, proxy, mobile…'),
    offset: z.int().min(0).default(0),
    max_chars: length.describe(''),
  }),
  async run(
    { connection, signal },
    {
      schema,
      prompt: question,
      product,
      attributes,
      outline,
      section,
      find,
      offset,
      max_chars: maxChars,
      identity: reader,
      ...options
    },
  ) {
    connection.assertAllowed(options.url)
    const formats: Input<'scrape'>['formats'] = []
    if (schema !== undefined || question !== undefined) formats.push('json')
    if (product) formats.push('product')
    const selectors = attributes?.map((text) => readAttributeSelector(text, 'attributes')) ?? []
    if (selectors.length > 0) formats.push({ type: 'attributes', selectors })
    const isJson = formats.length > 0
    const input: Input<'scrape'> = {
      ...options,
      ...(await readAs(connection, reader)),
      formats: isJson ? formats : ['markdown'],
      prefer_markdown: 'always',
      ...(formats.includes('json') && {
        json_options: { ...(schema && { schema }), ...(question && { prompt: question }) },
      }),
    }
    const body = await connection.ask('scrape', input, signal)
    if (!body.success || !body.data) throw new PageFailure(body)
    const { metadata } = body.data
    const whole = body.data.markdown ?? ''
    const markdown = section === undefined ? whole : sectionIn(whole, section, () => 'list the sections with outline')
    const title = section === undefined && !outline ? metadata.title : undefined
    const shown = outline ? outlineText(sectionsOf(markdown)) : markdown
    const { text, page } = isJson
      ? { page: JSON.stringify(valueOf(body.data)) }
      : find === undefined
        ? partOf(shown, { title, offset, maxChars })
        : passagesOf(markdown, find)
    const notes = [
      ...(metadata.json_source === 'heuristic' ? ['extracted by rules, without a language model'] : []),
      ...(text ? [text] : []),
    ]
    // Warnings include the HTTP status, and what does not match the schema. They may contain text of the page.
    const warning = body.warning ?? body.data.warning
    return { text: notes.join('\n'), page: [warning, page].filter(Boolean).join('\n') }
  },
})

/** Returns the value of the only format, or the values of several by name. */
function valueOf({ json, product, attributes }: ScrapeData): unknown {
  const values = Object.entries({ json, product, attributes }).filter(([, value]) => value !== undefined)
  return values.length === 1 ? values[0]![1] : Object.fromEntries(values)
}

/** Returns a part of a page, and how much follows. */
function partOf(
  markdown: string,
  { title, offset, maxChars }: { title: string | undefined; offset: number; maxChars: number },
): ToolAnswer {
  const { text, next, rest } = textPart(markdown, { offset, maxChars })
  if (offset > 0 && text === '') return { text: `end of page: it has ${markdown.length} characters` }
  return {
    ...(rest > 0 && { text: `${rest} more characters from offset ${next}` }),
    page: (offset === 0 && title ? `title: ${title}\n` : '') + text.trimEnd(),
  }
}

function passagesOf(markdown: string, find: string): ToolAnswer {
  const { passages, count } = excerpts(markdown, find, { most: limits.mcp.matches }) ?? { passages: [], count: 0 }
  if (count === 0) return { text: `no passage contains all words of ${JSON.stringify(find)}` }
  return { text: `${passages.length} of ${count} passages`, page: passages.join('\n') }
}

const { url: start, search: within, limit } = operations.map.input.shape

export const webMap = defineTool({
  name: 'web_map',
  description: 'List the URLs of a site.',
  uses: [operations.map],
  effect: 'read',
  input: z.object({
    url: start.describe(''),
    search: within.describe('Only URLs with this text'),
    limit: limit.unwrap().default(limits.mcp.listed).describe(''),
    identity: identity.describe('As in web_scrape'),
  }),
  output: z.object({ links: z.array(z.string()) }),
  async run({ connection, signal }, { identity: reader, ...input }) {
    connection.assertAllowed(input.url)
    const timed = { ...input, ...(await readAs(connection, reader)), timeout_secs: limits.mcp.answerMs / 1000 }
    const { success, links, warning, ...failure } = await connection.ask('map', timed, signal)
    if (!success) {
      const { code, error } = failure
      throw new PageFailure({ ...failure, hint: code && error && certificateHint({ code, message: error }) })
    }
    // Warnings may contain URLs of the site.
    return { page: [...(warning ? [warning] : []), ...links].join('\n'), data: { links } }
  },
})

const { query, limit: results, tbs, lang } = operations.search.input.shape

export const webSearch = defineTool({
  name: 'web_search',
  description: 'Search the web. Read results with web_scrape.',
  uses: [operations.search],
  effect: 'read',
  unrestricted: true,
  input: z.object({
    query: query.describe(''),
    limit: results.describe(''),
    tbs: tbs.describe('Age'),
    lang: lang.describe(''),
  }),
  output: z.object({ results: z.array(z.object({ url: z.string(), title: z.string(), description: z.string() })) }),
  async run({ connection, signal }, input) {
    const { data, warning } = await connection.ask('search', input, signal)
    const found = data.map(({ url: address, title, description }) => ({ url: address, title, description }))
    const lines = found.map((one, at) => `${at + 1}. ${one.title}\n${one.url}\n${one.description}`)
    return {
      text: [`${found.length} results`, ...(warning ? [warning] : [])].join('\n'),
      page: lines.join('\n'),
      data: { results: found },
    }
  },
})
