/**
 * Lua that decides whether leases are valid. While Redis, or the connections of all, were away, nobody could renew a
 * lease: those that were valid before stay so until their holders had the time to renew them. Two keys record this,
 * which gateways write whenever they look for lost workers: the time of their last look, and for some seconds after
 * a pause when it began.
 */
import { limits } from '../../core/limits/limits.ts'
import { keyPrefix } from './connect.ts'

const pulseKey = `${keyPrefix}dir:pulse`
const pauseKey = `${keyPrefix}dir:pause`

/** Defines `now` (by the clock of Redis, in milliseconds), `valid(lease)`, and for `lookLua` what it needs. */
export const leaseClockLua = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local pulse = tonumber(redis.call('GET', '${pulseKey}') or now)
local paused = now - pulse > ${limits.fleet.leaseMs / 2}
local pause = paused and pulse or tonumber(redis.call('GET', '${pauseKey}') or now)
local function valid(lease) return lease > now or lease > pause end
`

/** Records that a gateway looks for lost workers; `pulse` and `paused` are those from before. */
export const lookLua = `
if paused then redis.call('SET', '${pauseKey}', pulse, 'PX', ${limits.fleet.leaseMs}) end
redis.call('SET', '${pulseKey}', now)
`
