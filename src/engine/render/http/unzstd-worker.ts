/** Worker thread that decompresses zstd. */
import { serveTasks } from '../../../core/process/thread-tasks.ts'
import { unzstd } from './unzstd.ts'

serveTasks(unzstd)
