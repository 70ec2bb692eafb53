/** Lua scripts for the secret of the fleet, and for its data. */
import { limits } from '../../../core/limits/limits.ts'

export const claim = {
  flags: 'allow-oom',
  // ARGV: fingerprint, last renewal of another secret that has ended, beginning of the data that the caller knows or "".
  // Returns when a member with another secret renewed it (0 if the fleet has this secret now), the beginning of the data,
  // and the time since Redis was found without the data of the fleet (-1: never, or long ago).
  lua: `
local key = P .. 'secret'
local known = call('HMGET', key, 'fingerprint', 'renewed', 'since')
local renewed = 0
if known[1] and known[1] ~= ARGV[1] and known[2] ~= ARGV[2] then renewed = tonumber(known[2])
else call('HSET', key, 'fingerprint', ARGV[1], 'renewed', now) end
local since = tonumber(known[3])
if not since then
  since = now
  call('HSET', key, 'since', since)
end
if ARGV[3] ~= '' and tonumber(ARGV[3]) ~= since then
  call('SET', P .. 'loss', now, 'NX', 'PX', ${limits.fleet.lossShownMs})
end
local loss = call('GET', P .. 'loss')
return { renewed, since, loss and now - loss or -1 }`,
} as const

export const data = {
  flags: 'no-writes',
  // Returns the beginning of the data (0 without any), and the time since Redis was found without it, as `claim` does.
  lua: `
local since = tonumber(call('HGET', P .. 'secret', 'since') or 0)
local loss = call('GET', P .. 'loss')
return { since, loss and now - loss or -1 }`,
} as const
