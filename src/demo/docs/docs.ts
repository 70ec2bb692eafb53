/** The demo's documentation: its pages as HTML and as Markdown, a search, and an index for programs. */
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { page } from '../layout.ts'
import { type Entry, manual } from './manual.ts'

const entryOf = (slug: string | undefined) => manual.find((entry) => entry.slug === slug)
const sections = [...new Set(manual.map(({ section }) => section))]

/** Code between backticks becomes an element. */
const inline = (text: string) => text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))

const menu = sections.map((section) => {
  const links = manual.filter((entry) => entry.section === section)
  return html`<p>${section}</p>
    <ul>
      ${links.map(({ slug, title }) => html`<li><a href="/docs/${slug}">${title}</a></li>`)}
    </ul>`
})

const framed = (title: string, body: unknown, head: unknown = '') =>
  page(
    title,
    html`<div class="columns">
      <nav aria-label="Manual">${menu}</nav>
      <article>${body}</article>
    </div>`,
    head,
  )

const search = (value = '') => html`<form action="/docs/search" role="search">
  <label>Search the manual <input type="search" name="q" value="${value}" /></label> <button>Search</button>
</form>`

const bodyOf = ({ title, summary, text, usage, options, output, related }: Entry) => html`<h1>${title}</h1>
  <p>${summary}</p>
  ${
    usage &&
    html`<h2>Usage</h2>
      <pre><code class="language-sh">${usage}</code></pre>`
  }
  ${text.map((paragraph) => html`<p>${inline(paragraph)}</p>`)}
  ${
    options &&
    html`<h2>Options</h2>
      <table>
        <thead>
          <tr>
            <th>Option</th>
            <th>Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${options.map(
            ([flag, meaning]) =>
              html`<tr>
                <td><code>${flag}</code></td>
                <td>${meaning}</td>
              </tr>`,
          )}
        </tbody>
      </table>`
  }
  ${
    output &&
    html`<h2>Output</h2>
      <pre><code>${output}</code></pre>`
  }
  <h2>See also</h2>
  <ul>
    ${related.map((slug) => html`<li><a href="/docs/${slug}">${entryOf(slug)!.title}</a></li>`)}
  </ul>`

/** The same page as Markdown. */
function markdownOf({ title, summary, text, usage, options, output, related }: Entry): string {
  const blocks = [`# ${title}`, summary]
  if (usage) blocks.push('## Usage', `\`\`\`sh\n${usage}\n\`\`\``)
  blocks.push(...text)
  if (options)
    blocks.push(
      '## Options',
      [
        '| Option | Meaning |',
        '| --- | --- |',
        ...options.map(([flag, meaning]) => `| \`${flag}\` | ${meaning} |`),
      ].join('\n'),
    )
  if (output) blocks.push('## Output', `\`\`\`\n${output}\n\`\`\``)
  blocks.push('## See also', related.map((slug) => `- [${entryOf(slug)!.title}](/docs/${slug})`).join('\n'))
  return `${blocks.join('\n\n')}\n`
}

const index = html`<h1>The manual of kettle</h1>
  <p>
    kettle is an invented program that looks after the boilers, teas and guests of a tea room. Its manual has
    ${manual.length} pages.
  </p>
  ${search()}
  ${sections.map(
    (section) =>
      html`<h2>${section}</h2>
        <ul>
          ${manual.filter((entry) => entry.section === section).map(({ slug, title, summary }) => html`<li><a href="/docs/${slug}">${title}</a>: ${summary}</li>`)}
        </ul>`,
  )}`

function found(words: string) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const hits = manual.filter((entry) => {
    const all = markdownOf(entry).toLowerCase()
    return wanted.length > 0 && wanted.every((word) => all.includes(word))
  })
  return html`<h1>Search</h1>
    ${search(words)}
    <p role="status">${hits.length} of ${manual.length} pages</p>
    <ol>
      ${hits.map(({ slug, title, summary }) => html`<li><a href="/docs/${slug}">${title}</a><br />${summary}</li>`)}
    </ol>`
}

const originOf = (context: Context) => new URL(context.req.url).origin

export function docs(): Hono {
  const app = new Hono()
  app.get('/', (context) => context.html(framed('Manual', index)))
  app.get('/search', (context) => context.html(framed('Search', found((context.req.query('q') ?? '').slice(0, 100)))))
  app.get('/:page', (context) => {
    const name = context.req.param('page')
    const isMarkdown = name.endsWith('.md')
    const entry = entryOf(isMarkdown ? name.slice(0, -3) : name)
    if (!entry)
      return context.html(
        framed(
          'Not found',
          html`<h1>There is no such page</h1>
            ${search()}`,
        ),
        404,
      )
    if (isMarkdown) return context.body(markdownOf(entry), 200, { 'content-type': 'text/markdown; charset=utf-8' })
    const link = html`<link rel="alternate" type="text/markdown" href="/docs/${entry.slug}.md" />`
    return context.html(framed(entry.title, bodyOf(entry), link))
  })
  return app
}

/** The files for crawlers: robots.txt, sitemap.xml and llms.txt. */
export function indexes(): Hono {
  const app = new Hono()
  app.get('/robots.txt', (context) =>
    context.text(`User-agent: *\nDisallow: /hard/calendar\nSitemap: ${originOf(context)}/sitemap.xml\n`),
  )
  app.get('/sitemap.xml', (context) => {
    const urls = manual.map(({ slug }) => `<url><loc>${originOf(context)}/docs/${slug}</loc></url>`).join('\n')
    const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}\n</urlset>\n`
    return context.body(xml, 200, { 'content-type': 'application/xml' })
  })
  app.get('/llms.txt', (context) => {
    const lines = manual.map(({ slug, title, summary }) => `- [${title}](/docs/${slug}.md): ${summary}`)
    return context.text(
      `# kettle\n\n> A program that looks after the boilers, teas and guests of a tea room.\n\n## Manual\n\n${lines.join('\n')}\n`,
    )
  })
  return app
}
