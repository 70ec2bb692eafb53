/** Code of an engine in a sandbox; what runs it is loaded at the first run. */
import type { KeyRing } from '../../core/access/keys.ts'
import type { Log } from '../../core/config/config.ts'
import { Capacity } from '../../core/access/capacity.ts'
import type { Code } from '../../core/engine.ts'
import { limits } from '../../core/limits/limits.ts'

export function lazyCode(keys: Pick<KeyRing, 'whenLost'>, log: Log): Code {
  const { runs } = limits.code
  const capacity = new Capacity(runs, {
    full: `${runs} codes are running`,
    amount: (count) => `${count} running codes`,
  })
  return {
    run: async (input, call) => {
      capacity.take(call.caller, 1)
      try {
        return await (await import('./run-code.ts')).runCode({ keys, log }, input, call)
      } finally {
        capacity.release(call.caller, 1)
      }
    },
  }
}
