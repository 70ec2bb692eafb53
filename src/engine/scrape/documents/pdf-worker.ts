/** Worker thread that reads PDFs. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { readPdf } from './pdf/read-pdf.ts'

serveTasks(readPdf)
