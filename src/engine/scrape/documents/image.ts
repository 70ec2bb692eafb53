import { element, fileName, type PageDocument, treeOf } from './document.ts'

/** A picture: what would show it. */
export function imageDocument(url: string): PageDocument {
  const name = fileName(url)
  return {
    tree: treeOf(url, name, [element('img', { src: url, alt: '' })]),
    markdown: `![](${escapeTarget(url)})\n`,
    isPage: false,
  }
}

/** Brackets would end the address. */
const escapeTarget = (url: string): string => url.replaceAll('(', '%28').replaceAll(')', '%29')
