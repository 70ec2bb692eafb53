/** Office documents as bax reads them. */
import { contentOf } from '../../src/engine/scrape/content/content.ts'
import { officeDocument } from '../../src/engine/scrape/documents/office-document.ts'

export async function readDocument(bytes: Uint8Array) {
  const document = await officeDocument(bytes, 'https://example.com/file.docx', {
    signal: new AbortController().signal,
  })
  const { markdown } = await contentOf(document, { onlyMain: true, inlineImages: false, headline: true })
  return { ...document, markdown: markdown.trim() }
}

export const markdownOf = async (bytes: Uint8Array) => (await readDocument(bytes)).markdown
