/** `index.md` of a mirror: a table of contents by folder. */
import { counted } from '../../output/counted.ts'
import type { CrawlError } from '../../../core/shapes/crawl.ts'
import { encodePath } from './local-links.ts'
import type { ManifestPage } from './manifest-file.ts'

export const contentsName = 'index.md'

type FiledPage = ManifestPage & { readonly file: string }

interface Branch {
  readonly pages: FiledPage[]
  readonly folders: Map<string, Branch>
}

const newBranch = (): Branch => ({ pages: [], folders: new Map() })

/** Yields the text in chunks. Within a folder, pages are in the order of the crawl. */
export function* contentsText(url: string, pages: readonly ManifestPage[], errors: readonly CrawlError[]) {
  const title = pages.find(({ depth }) => depth === 0)?.title
  yield `# ${escaped(title || url)}\n\n`
  yield `${counted(pages.length, 'page')} of <${url}>${errors.length > 0 ? `, ${counted(errors.length, 'error')}` : ''}\n`
  const root = newBranch()
  for (const page of pages) if (page.file !== null) addPage(root, { ...page, file: page.file })
  const hosts = [...root.folders.values()]
  yield '\n'
  yield* hosts.length === 1 ? branchText(hosts[0]!, '') : branchText(root, '')
  if (errors.length === 0) return
  yield '\n## Errors\n\n'
  for (const { url: failed, error } of errors) yield `- <${failed}>: ${escaped(error)}\n`
}

function addPage(root: Branch, page: FiledPage): void {
  let branch = root
  for (const name of page.file.split('/').slice(0, -1)) {
    let next = branch.folders.get(name)
    if (!next) branch.folders.set(name, (next = newBranch()))
    branch = next
  }
  branch.pages.push(page)
}

function* branchText({ pages, folders }: Branch, indent: string): Generator<string> {
  for (const page of pages) yield `${indent}- ${linkTo(page)}\n`
  for (const [name, folder] of folders) {
    const index = folder.pages.find(({ file }) => /\/index\.[^/]*$/.test(file))
    yield `${indent}- ${index ? linkTo(index) : `${escaped(name)}/`}\n`
    yield* branchText({ ...folder, pages: folder.pages.filter((page) => page !== index) }, `${indent}  `)
  }
}

const linkTo = ({ title, url, file }: FiledPage): string => `[${escaped(title || url)}](${encodePath(file)})`

const escaped = (text: string): string =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replaceAll(/[\\`*_[\]<>#|]/g, '\\$&')
