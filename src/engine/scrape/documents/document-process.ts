/** The process that reads PDFs and office documents, which may need much memory. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../../core/limits/limits.ts'
import { HelperProcess } from '../../../core/process/helper-process.ts'
import type { BodyWork } from '../../render/http/body.ts'

/** Document to read. */
export interface DocumentTask {
  readonly kind: 'pdf' | 'office'
  readonly bytes: Uint8Array
}

type Read<Content> = (bytes: Uint8Array, work: BodyWork) => Promise<Content>

const program = join(import.meta.dirname, 'document-reader.mjs')
const helper = new HelperProcess<DocumentTask, unknown>({
  name: 'the process that reads documents',
  program,
  ...limits.documents,
})

/** Returns a function that runs `read` in the process, or in this one if the program is not built, as in unit tests. */
export const readInProcess =
  <Content>(kind: DocumentTask['kind'], read: Read<Content>): Read<Content> =>
  (bytes, work) =>
    existsSync(program) ? (helper.run({ kind, bytes }, work) as Promise<Content>) : read(bytes, work)
