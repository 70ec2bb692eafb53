/** Converts content with a simple HTML equivalent to documents: JSON, plain text, CSV, images. */
import {
  codeDocument,
  type SourceText,
  element,
  elementAround,
  fileName,
  type PageDocument,
  treeOf,
} from './document.ts'

export function jsonDocument(source: SourceText): PageDocument {
  const parsed = parse(source.text)
  return {
    ...codeDocument(source, 'json'),
    ...(parsed ? { value: parsed.value } : { warning: 'the content type is JSON, but the content is not valid JSON' }),
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return lines(text)
  }
}

function lines(text: string): { value: unknown } | undefined {
  const rows = text.split('\n').filter((line) => line.trim() !== '')
  if (rows.length < 2) return undefined
  try {
    return { value: rows.map((line) => JSON.parse(line) as unknown) }
  } catch {
    return undefined
  }
}

export const textDocument = ({ text, charset, url }: SourceText): PageDocument => ({
  tree: treeOf(url, fileName(url), [element('pre', {}, text)]),
  raw: text,
  charset,
  markdown: text,
  isPage: false,
})

/** Converts comma, tab or semicolon separated values to a table, whose head is the first row, as wide as the widest. */
export async function csvDocument({ text, charset, url }: SourceText): Promise<PageDocument> {
  const { default: papa } = await import('papaparse')
  const { data } = papa.parse<string[]>(text, { skipEmptyLines: 'greedy' })
  const width = data.reduce((most, row) => Math.max(most, row.length), 0)
  const [first = [], ...rows] = data
  // Padding short rows, which HTML and Markdown do not require, could exceed memory even for a small file.
  const head = Array.from({ length: width }, (_, at) => first[at] ?? '')
  return {
    tree: treeOf(url, fileName(url), [
      element(
        'table',
        {},
        element('thead', {}, cells('th', head)),
        elementAround(
          'tbody',
          rows.map((row) => cells('td', row)),
        ),
      ),
    ]),
    raw: text,
    charset,
    markdown: width === 0 ? '' : [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n') + '\n',
    isPage: false,
  }
}

export function imageDocument(url: string): PageDocument {
  // Parentheses would end the URL in Markdown.
  const target = url.replaceAll('(', '%28').replaceAll(')', '%29')
  const image = element('img', { src: url, alt: '' })
  return { tree: treeOf(url, fileName(url), [image]), markdown: `![](${target})\n`, isPage: false }
}

const cells = (tag: string, row: readonly string[]) =>
  elementAround(
    'tr',
    row.map((cell) => element(tag, {}, cell)),
  )

const line = (row: readonly string[]): string => `| ${row.map(cellText).join(' | ')} |`

const cellText = (cell: string): string =>
  cell
    .trim()
    .replaceAll(/([\\|<])/g, String.raw`\$1`)
    .replaceAll(/\r\n?|\n/g, '<br>')
