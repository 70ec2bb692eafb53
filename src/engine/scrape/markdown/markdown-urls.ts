/** Names of Markdown files, and of the pages that they are the Markdown of. */

/** Whether a URL names a file of Markdown. */
export const isMarkdownName = (url: string): boolean => /\.(?:md|markdown)$/i.test(new URL(url).pathname)

/** Returns the URLs that the Markdown of a page can have. */
export function markdownUrls(page: string): string[] {
  const url = new URL(page)
  const path = url.pathname.replace(/\/$/, '')
  const stem = path.replace(/\.x?html?$/i, '')
  const paths = [
    `${path}.md`,
    `${stem}.md`,
    `${path}/index.md`,
    `${path}/index.html.md`,
    `${stem.replace(/\/index$/, '')}.md`,
  ]
  return [...new Set(paths)].filter((one) => !one.endsWith('/.md') && one !== '.md').map((one) => withPath(url, one))
}

/** Returns the URLs of pages that a URL of Markdown can be the Markdown of. */
export function pagesOfMarkdown(markdown: string): string[] {
  const url = new URL(markdown)
  if (!isMarkdownName(markdown)) return []
  const stem = url.pathname.replace(/\.(?:md|markdown)$/i, '')
  const folder = stem.replace(/\/index(?:\.html)?$/, '/')
  return [...new Set([stem, `${stem}.html`, folder])].map((path) => withPath(url, path))
}

/** Returns a URL of the same host with another path, which may begin with two slashes. */
const withPath = (url: URL, pathname: string): string => Object.assign(new URL(url), { pathname, hash: '' }).href

/** Whether a URL names llms.txt itself, or the file that repeats the text of all pages. */
export const isLlmsFile = (url: string): boolean => /\/llms(?:-[\w-]+)?\.(?:txt|md)$/i.test(new URL(url).pathname)
