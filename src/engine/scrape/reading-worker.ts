/** A thread that reads the pages it is sent. */
import { serveTasks } from '../../core/process/thread-tasks.ts'
import { readPage } from './reading.ts'

serveTasks(readPage)
