/** Worker thread that measures processes. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { ProcessTable } from './process-table.ts'

const table = new ProcessTable()
serveTasks(async (sessions: ReadonlySet<number>) => table.measure(sessions))
