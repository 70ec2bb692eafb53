/** A thread that reads the PDFs it is sent. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { readPdf } from './pdf-text.ts'

serveTasks(readPdf)
