/** Worker thread that reads office documents. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { readOffice } from './office/office.ts'

serveTasks(readOffice)
