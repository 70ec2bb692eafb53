/** PDF: the text of its pages. */
import { BaxError } from '../../../core/errors.ts'
import { element, fileName, type PageDocument, treeOf } from './document.ts'

/** @throws BaxError `unsupported_content_type` for a file that is locked or no PDF. */
export async function pdfDocument(bytes: Uint8Array, url: string): Promise<PageDocument> {
  const { extractText, getDocumentProxy, getMeta } = await import('unpdf')
  try {
    // The parser keeps the memory that it is given, and takes no Buffer.
    const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
    try {
      const { totalPages, text } = await extractText(pdf, { mergePages: false })
      const { info } = await getMeta(pdf, { parseDates: true })
      return pdfContent(text, totalPages, info, url)
    } finally {
      await pdf.destroy()
    }
  } catch (cause) {
    const locked = (cause as Error).name === 'PasswordException'
    const why = locked ? 'the PDF is protected by a password' : 'the PDF cannot be read'
    throw new BaxError('unsupported_content_type', why, { cause, details: { content_type: 'application/pdf' } })
  }
}

function pdfContent(pages: readonly string[], count: number, info: Record<string, unknown>, url: string): PageDocument {
  const texts = pages.map((page) => page.replaceAll(/[ \t]+$/gm, '').trim())
  const word = (name: string) =>
    typeof info[name] === 'string' && info[name].trim() !== '' ? info[name].trim() : undefined
  const time = (name: string) => (info[name] instanceof Date ? info[name].toISOString() : undefined)
  const facts = { title: word('Title') ?? fileName(url), description: word('Subject'), author: word('Author'), published: time('CreationDate'), modified: time('ModDate') } // prettier-ignore
  const empty = texts.every((text) => text === '')
  return {
    tree: treeOf(url, facts.title, ...texts.map((text) => element('section', {}, ...paragraphs(text)))),
    markdown: empty ? '' : `${texts.join('\n\n---\n\n')}\n`,
    pages: count,
    isPage: false,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
    ...(empty && { warning: 'the PDF has no text: its pages are pictures' }),
  }
}

const paragraphs = (text: string) => text.split(/\n{2,}/).map((part) => element('p', {}, part))
