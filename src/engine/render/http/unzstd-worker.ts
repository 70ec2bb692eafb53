/** A thread that unpacks what it is sent. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { unzstd } from './unzstd.ts'

serveTasks(unzstd)
