/** Manuals from Debian packages, served on loopback: scraping must keep their content. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { DomUtils, parseDocument } from 'htmlparser2'
import type { Element } from 'domhandler'
import type { Root } from 'mdast'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { nodesOf, parseMarkdown, textOf } from '../support/markdown.ts'
import { titled } from '../support/needs.ts'

const share = '/usr/share/doc'

interface Manual {
  /** Debian package that contains it: `apt-get install <name>`. */
  readonly name: string
  readonly folder: string
  readonly pages: readonly string[]
}

/** Returns the newest of the folders whose names match. */
const versioned = (pattern: RegExp): string =>
  readdirSync(existsSync(share) ? share : '/')
    .filter((name) => pattern.test(name))
    .toSorted()
    .at(-1) ?? 'absent'

const manuals: readonly Manual[] = [
  {
    name: 'python3-doc',
    folder: join(share, versioned(/^python3\.\d+$/), 'html'),
    pages: [
      'tutorial/datastructures',
      'tutorial/introduction',
      'tutorial/interpreter',
      'tutorial/controlflow',
      'library/functools',
      'library/itertools',
      'library/collections',
      'library/argparse',
      'library/cgi',
      'library/os.path',
      'library/html.entities',
      'library/winreg',
      'library/ctypes',
      'reference/datamodel',
      'reference/lexical_analysis',
      'howto/regex',
      'howto/logging',
      'faq/programming',
      'c-api/slice',
      'c-api/mapping',
      'whatsnew/2.7',
      'license',
    ],
  },
  {
    name: 'postgresql-doc',
    folder: join(share, versioned(/^postgresql-doc-\d+$/), 'html'),
    pages: [
      'sql-select',
      'sql-createtable',
      'sql-dropfunction',
      'functions-string',
      'functions-matching',
      'functions-logical',
      'datatype-numeric',
      'multibyte',
      'ddl-generated-columns',
      'indexes-intro',
      'mvcc-intro',
      'gssapi-auth',
      'catalog-pg-class',
      'infoschema-columns',
      'app-psql',
      'plpgsql-control-structures',
      'citext',
      'acronyms',
      'tutorial-join',
      'locale',
    ],
  },
  {
    name: 'git-doc',
    folder: '/usr/share/doc/git/html',
    pages: ['git-log', 'git-rebase', 'git-checkout', 'gitglossary', 'gittutorial', 'gitfaq', 'gitmodules'],
  },
  {
    name: 'debian-policy',
    folder: '/usr/share/doc/debian-policy/policy.html',
    pages: ['ch-binary', 'ch-controlfields', 'ch-maintainerscripts', 'ch-source', 'upgrading-checklist'],
  },
]

const types: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

let homes: Homes
let server: Server
let origin: string

beforeAll(async () => {
  homes = await openHomes()
  server = createServer(({ url }, response) => {
    const path = normalize(join(share, decodeURIComponent(new URL(url!, 'http://x').pathname)))
    if (!path.startsWith(share) || !extname(path) || !existsSync(path)) return void response.writeHead(404).end()
    response
      .writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' })
      .end(readFileSync(path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await homes.close()
  server.close()
  server.closeAllConnections()
})

/** Returns the body of a page without menus and link markers. */
function text(html: string): Element {
  const all = parseDocument(html).children
  const find = (matches: (element: Element) => boolean) => DomUtils.findOne(matches, all)
  const body = find(({ attribs }) => attribs['role'] === 'main') ?? find(({ name }) => name === 'body')!
  const around = /(?:^|\s)(?:navheader|navfooter|toc|headerlink|related|clearer)(?:\s|$)/
  for (const foreign of DomUtils.findAll(
    ({ name, attribs }) =>
      /^(?:script|style|nav)$/.test(name) ||
      around.test(attribs['class'] ?? '') ||
      attribs['id'] === 'footer' ||
      attribs['role'] === 'contentinfo',
    [body],
  ))
    DomUtils.removeElement(foreign)
  return body
}

const plain = (words: string): string => words.replaceAll(/[\s\u200b¶]+/g, '').normalize()
const elements = (body: Element, pattern: RegExp): Element[] =>
  DomUtils.findAll(({ name }) => pattern.test(name), [body])
const wordsIn = (words: string): string[] => words.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []

/** Returns the share of the original's words that occur less often in the Markdown. */
function missing(body: Element, page: Root): number {
  const counts = new Map<string, number>()
  const spaced = nodesOf(page, 'text')
    .map(({ value }) => value)
    .concat(
      nodesOf(page, 'code').map(({ value }) => value),
      nodesOf(page, 'inlineCode').map(({ value }) => value),
    )
  const read = `${spaced.join(' ')} ${textOf(page)}`
  for (const word of wordsIn(read)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const expectedWords = DomUtils.findAll(() => true, [body]).flatMap(({ children }) =>
    children.flatMap((child) => ('data' in child ? wordsIn(child.data as string) : [])),
  )
  return (
    expectedWords.filter((word) => {
      const left = counts.get(word) ?? 0
      counts.set(word, left - 1)
      return left <= 0
    }).length / expectedWords.length
  )
}

const described = manuals.map((manual) => ({
  ...manual,
  reason: existsSync(manual.folder) ? null : `${manual.name} is not installed`,
}))

describe.each(described)('$name', ({ folder, pages, reason }) => {
  const installed = pages.filter((page) => existsSync(join(folder, `${page}.html`)))
  /** Links of the pages that have been read. */
  const linksOf = new Map<string, string[]>()
  const read = async (page: string): Promise<Root> => {
    const url = `${origin}${folder.slice(share.length)}/${page}.html`
    const { data } = await homes.clients.embedded.scrape({ url })
    const markdown = parseMarkdown(data!.markdown!)
    linksOf.set(
      page,
      nodesOf(markdown, 'link').map((link) => link.url),
    )
    return markdown
  }

  test.skipIf(reason)(titled('contains most of its pages', reason), () => {
    expect(installed.length).toBeGreaterThan(pages.length / 2)
  })

  test.skipIf(reason).each(installed)('%s keeps its headings, code, tables and words', async (page) => {
    const markdown = await read(page)
    const body = text(readFileSync(join(folder, `${page}.html`), 'utf8'))

    const headings = new Set(nodesOf(markdown, 'heading').map((heading) => plain(textOf(heading))))
    expect(contentsOf(body, /^h[1-6]$/).filter((heading) => !headings.has(heading))).toEqual([])

    const blocks = nodesOf(markdown, 'code')
    const code = new Set(blocks.map(({ value }) => plain(value)))
    expect(contentsOf(body, /^pre$/).filter((program) => !code.has(program))).toEqual([])
    // In Sphinx an enclosing element has the language of a block.
    const named = elements(body, /^div$/).filter(({ attribs }) =>
      /\bhighlight-(?:python3?|pycon|c|console)\b/.test(attribs['class'] ?? ''),
    )
    expect(blocks.filter(({ lang }) => lang).length).toBeGreaterThanOrEqual(named.length * 0.9)

    const grids = elements(body, /^table$/).filter(
      (table) => elements(table, /^th$/).length > 1 && elements(table, /^table$/).length === 1,
    )
    expect(nodesOf(markdown, 'table').length).toBeGreaterThanOrEqual(grids.length)
    expect(missing(body, markdown)).toBeLessThan(0.02)
  })

  test.skipIf(reason)(titled('links lead to existing pages', reason), async () => {
    const links = new Set<string>()
    for (const page of installed) {
      if (!linksOf.has(page)) await read(page)
      for (const url of linksOf.get(page)!) links.add(url)
    }
    expect([...links].filter((address) => !URL.canParse(address))).toEqual([])
    const own = [...links].map((address) => new URL(address)).filter((address) => address.origin === origin)
    expect(own.length).toBeGreaterThan(installed.length)
    const lost = [...new Set(own.map(({ pathname }) => join(share, decodeURIComponent(pathname))))].filter(
      (path) => !existsSync(path),
    )
    // A manual may link to a page that its package does not contain.
    expect(lost.length).toBeLessThanOrEqual(own.length / 100)
  })
})

/** Returns the text of elements; a table cell is one line, as in Markdown. */
const contentsOf = (body: Element, pattern: RegExp): string[] =>
  elements(body, pattern)
    .filter((element) => !isInCell(element))
    .map((element) => plain(DomUtils.textContent(element)))
    .filter((content) => content !== '')

function isInCell(element: Element): boolean {
  for (let above = element.parent; above; above = above.parent)
    if ('name' in above && /^t[dh]$/.test(above.name)) return true
  return false
}
