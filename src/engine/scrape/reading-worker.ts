/** A thread that reads the pages it is sent. */
import { serveTasks } from '../../core/thread-tasks.ts'
import { readHtml } from './reading.ts'

serveTasks(readHtml)
