/** Program of the process that reads PDFs and office documents. */
import { serveHelper } from '../../../core/process/helper-tasks.ts'
import type { DocumentTask } from './document-process.ts'
import { readOfficeInThread } from './office-document.ts'
import { readPdfInThread } from './pdf.ts'

serveHelper<DocumentTask, unknown>(({ kind, bytes }, work) =>
  kind === 'pdf' ? readPdfInThread(bytes, work) : readOfficeInThread(bytes, work),
)
