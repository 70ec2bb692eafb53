/** Resources of a connection: stored images, files of sessions, output files of commands, and crawled pages. */
import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import type { Download } from '../client/client.ts'
import { BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { enclosed } from '../core/text/boundaries.ts'
import type { Connection } from './connection.ts'
import type { ToolGroup } from './tool.ts'

/** Builds a URI below `bax://`. */
const uriOf = (...parts: readonly (string | number)[]): string =>
  `bax://${parts.map((part) => encodeURIComponent(part)).join('/')}`

export const fileUri = (session_id: string, name: string): string => uriOf('file', session_id, name)
export const artifactUri = (id: string, name: string): string => uriOf('artifact', id, name)
const pageUri = (crawl: string, page: number): string => uriOf('crawl', crawl, page)

type Kind = 'file' | 'artifact' | 'crawl'

/** Groups whose tools a client needs for a kind of resource. */
const groupOf: Readonly<Record<Kind, ToolGroup>> = { file: 'browser', artifact: 'shell', crawl: 'scrape' }

const templates: Readonly<Record<Kind, ResourceTemplateType>> = {
  file: { uriTemplate: 'bax://file/{session}/{name}', name: 'File of a session' },
  artifact: { uriTemplate: 'bax://artifact/{artifact}/{name}', name: 'Output file of a command' },
  crawl: { uriTemplate: 'bax://crawl/{crawl}/{page}', name: 'Page of a crawl', mimeType: 'text/markdown' },
}

const isOffered = ({ options }: Connection, kind: string): boolean => options.groups.includes(groupOf[kind as Kind])

/** Lists the forms of the resources of the groups that the connection offers. */
export const resourceTemplates = (connection: Connection): ResourceTemplateType[] =>
  Object.entries(templates).flatMap(([kind, template]) => (isOffered(connection, kind) ? [template] : []))

/** Lists the resources that the connection knows. */
export async function listResources(connection: Connection, signal: AbortSignal): Promise<Resource[]> {
  const [sessions, shells] = await Promise.all([connection.sessions.list(), connection.shells.list()])
  const files = sessions.map(async ({ id: session_id }) => {
    const { files: all } = await connection.ask('listSessionFiles', { session_id }, signal)
    return all.map(({ name, size }) => ({ uri: fileUri(session_id, name), name, size }))
  })
  const artifacts = shells.map(async ({ id: session_id }) => {
    const { artifacts: all } = await connection.ask('listArtifacts', { session_id }, signal)
    return all.flatMap(({ id, files: output }) =>
      output.map(({ name, size, content_type: mimeType }) => ({ uri: artifactUri(id, name), name, size, mimeType })),
    )
  })
  const crawls = [...connection.crawls].map(([id, url]) => ({
    uri: pageUri(id, 1),
    name: `First page of the crawl of ${url}`,
  }))
  return [...connection.stored.list(), ...crawls, ...(await Promise.all([...files, ...artifacts])).flat()]
}

/** Reads a resource. @throws BaxError `file_not_found` and those of the engine */
export async function readResource(
  connection: Connection,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const stored = connection.stored.get(uri)
  if (stored) return { contents: [{ uri, mimeType: stored.mimeType, blob: stored.data }] }
  const [, kind, id, name] =
    /^bax:\/\/(file|artifact|crawl)\/([^/]+)\/([^/]+)$/.exec(uri)?.map((part) => decodeURIComponent(part)) ?? []
  if (id === undefined || name === undefined || !isOffered(connection, kind!))
    throw new BaxError('file_not_found', `there is no resource ${JSON.stringify(uri)}`)
  const mark = (text: string) => (connection.options.boundaries ? enclosed(text) : text)
  if (kind === 'crawl') {
    const page = await crawledPage(connection, id, Number(name), signal)
    return { contents: [{ uri, mimeType: 'text/markdown', text: mark(page.markdown ?? '') }] }
  }
  const { calls } = connection
  const content = await readDownload(
    kind === 'file'
      ? calls.download('downloadSessionFile', { session_id: await connection.session(id), name }, { signal })
      : calls.download('downloadArtifact', { artifact_id: id, file_name: name }, { signal }),
  )
  const { mimeType, text, blob } = content
  return { contents: [text === undefined ? { uri, mimeType, blob: blob! } : { uri, mimeType, text: mark(text) }] }
}

/** Returns one page of a crawl; the first one is 1. @throws BaxError `file_not_found`, `crawl_not_found` */
export async function crawledPage(connection: Connection, id: string, page: number, signal: AbortSignal) {
  if (Number.isInteger(page) && page > 0) {
    const { data } = await connection.ask('getCrawl', { id, skip: page - 1, limit: 1 }, signal)
    if (data[0]) return data[0]
  }
  throw new BaxError('file_not_found', `crawl ${id} has no page ${page}`)
}

interface ReadContent {
  readonly mimeType: string
  readonly text?: string
  readonly blob?: string
}

/** Reads a file of limited size, as text if it is. @throws BaxError `payload_too_large` */
export async function readDownload(download: Promise<Download>): Promise<ReadContent> {
  const { headers, bytes } = await download
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > limits.bodyBytes)
      throw new BaxError('payload_too_large', `the file has more than ${limits.bodyBytes} bytes`)
    chunks.push(chunk)
  }
  const all = Buffer.concat(chunks)
  const header = headers instanceof Headers ? headers.get('content-type') : headers['content-type']
  const mimeType = header ?? 'application/octet-stream'
  const text = all.toString('utf8')
  const isText = /^text\/|json|xml|javascript|csv|yaml/.test(mimeType) && Buffer.from(text).equals(all)
  return isText ? { mimeType, text } : { mimeType, blob: all.toString('base64') }
}
