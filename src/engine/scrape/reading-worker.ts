/** Worker thread that reads pages. */
import { serveTasks } from '../../core/process/thread-tasks.ts'
import { readPage } from './reading.ts'

serveTasks(readPage)
