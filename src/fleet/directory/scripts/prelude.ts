/**
 * Lua functions that all scripts of the directory share, and the layout of its keys below `bax:dir:`.
 *
 * | key | type | content |
 * |---|---|---|
 * | `workers` | zset | worker IDs by the end of their lease |
 * | `worker:ID` | hash | `info` (JSON), `url`, `build`, `state`, `seen`, load; `labels` that work, and why others are `broken` (JSON); `slots:KIND`, `used:KIND`, and after failures `penalty:KIND` |
 * | `held:ID` | set | IDs of the objects and reservations on a worker |
 * | `gone:ID` | string | when a worker was lost or left |
 * | `free:BUILD:KIND` | zset | workers that get new objects, by used/slots with the penalty; full ones are last |
 * | `load:BUILD:LABEL` | zset | workers that get new pages, by busy/pages |
 * | `reservations` | zset | reservation IDs by their expiry |
 * | `reservation:ID` | hash | `kind`, `owner`, `name`, `worker`, `url` |
 * | `object:ID` | hash | the same; `ended` or `lost` as soon as it is; expires with its tombstone |
 * | `counts` | hash | number of held objects by `KIND:OWNER` |
 * | `name:KIND:OWNER:NAME` | zset | IDs of the live objects and reservations with that name, oldest first |
 * | `owners:KIND:NAME` | set | owners of live objects with that name |
 * | `past:KIND:OWNER:NAME` | string | ID of the last one that ended; the owner `*` is any |
 * | `secret` | hash | `fingerprint` of the secret of the fleet, when it was last `renewed`, and `since` when there is data; see `secret-claim.ts` |
 * | `loss` | string | when a member found that Redis had lost the data of the fleet; expires after a day |
 * | `pulse` | string | when a gateway last looked for lost workers; see `lease-clock.ts` |
 * | `pause` | string | when the last pause began; expires some seconds after it |
 *
 * Times are in milliseconds by the clock of Redis. The owner is empty where no keys are in use. Key names are computed,
 * so all keys are on one server (no Redis Cluster). Every script may be repeated after a lost connection: the effect is
 * the same, except for penalties, which are approximate.
 */
import { slotKinds } from '../../../core/fleet.ts'
import { leaseClockLua } from '../../redis/lease-clock.ts'

const slotLabels = Object.entries(slotKinds)
  .map(([kind, label]) => `${kind} = '${label}'`)
  .join(', ')

export const prelude = `
local P = 'bax:dir:'
local call = redis.call
-- Labels of workers that objects with slots need.
local slotted = { ${slotLabels} }
-- Rank of full workers; others have less.
local full = 2
${leaseClockLua}
local function alive(worker)
  local lease = call('ZSCORE', P .. 'workers', worker)
  return lease and valid(tonumber(lease))
end

-- Removes a worker from those that get new work.
local function withdraw(worker)
  local facts = call('HMGET', P .. 'worker:' .. worker, 'build', 'labels')
  if not facts[1] then return end
  for kind in pairs(slotted) do call('ZREM', P .. 'free:' .. facts[1] .. ':' .. kind, worker) end
  for label in facts[2]:gmatch('[^,]+') do call('ZREM', P .. 'load:' .. facts[1] .. ':' .. label, worker) end
end

local function hasFree(worker, kind)
  local facts = call('HMGET', P .. 'worker:' .. worker, 'slots:' .. kind, 'used:' .. kind)
  return tonumber(facts[2] or 0) < tonumber(facts[1] or 0)
end

-- Ranks a worker among those that get new objects of a kind.
local function place(worker, kind)
  local key = P .. 'worker:' .. worker
  local facts = call('HMGET', key, 'slots:' .. kind, 'state', 'build', 'labels', 'used:' .. kind, 'penalty:' .. kind)
  if not facts[1] then return end
  local slots, used, penalty = tonumber(facts[1]), tonumber(facts[5] or 0), tonumber(facts[6] or 0)
  local works = (',' .. facts[4] .. ','):find(',' .. slotted[kind] .. ',', 1, true)
  local ranks = P .. 'free:' .. facts[3] .. ':' .. kind
  if slots > 0 and facts[2] == 'ready' and works then
    call('ZADD', ranks, used < slots and used / slots + penalty or full, worker)
  else
    call('ZREM', ranks, worker)
  end
end

-- Changes the used slots of a worker, and its rank among those with free slots.
local function use(worker, kind, change)
  local key = P .. 'worker:' .. worker
  if call('EXISTS', key) == 0 then return end
  call('HINCRBY', key, 'used:' .. kind, change)
  place(worker, kind)
end

local function nameKey(kind, owner, name) return P .. 'name:' .. kind .. ':' .. owner .. ':' .. name end

-- Returns the kind of a live object that keeps another one from having its name, or false. Sessions and relays share
-- their names, but several relays may have the same.
local function holderOf(kind, owner, name)
  for _, other in ipairs(kind == 'relay' and { 'session' } or kind == 'session' and { 'session', 'relay' } or { kind }) do
    if call('EXISTS', nameKey(other, owner, name)) == 1 then return other end
  end
  return false
end

-- Counts an object or a reservation for its worker, its owner and its name (false: none).
local function take(id, kind, owner, name, worker)
  call('SADD', P .. 'held:' .. worker, id)
  if slotted[kind] then
    use(worker, kind, 1)
    call('HINCRBY', P .. 'counts', kind .. ':' .. owner, 1)
  end
  if name then
    call('ZADD', nameKey(kind, owner, name), now, id)
    call('SADD', P .. 'owners:' .. kind .. ':' .. name, owner)
  end
end

-- Reverts "take", once.
local function free(id, kind, owner, name, worker)
  if call('SREM', P .. 'held:' .. worker, id) == 0 then return end
  if slotted[kind] then
    use(worker, kind, -1)
    if call('HINCRBY', P .. 'counts', kind .. ':' .. owner, -1) <= 0 then
      call('HDEL', P .. 'counts', kind .. ':' .. owner)
    end
  end
  if name then
    call('ZREM', nameKey(kind, owner, name), id)
    if call('EXISTS', nameKey(kind, owner, name)) == 0 then
      call('SREM', P .. 'owners:' .. kind .. ':' .. name, owner)
    end
  end
end

-- Removes a reservation; does nothing without it.
local function drop(id)
  call('ZREM', P .. 'reservations', id)
  local key = P .. 'reservation:' .. id
  local facts = call('HMGET', key, 'kind', 'owner', 'name', 'worker')
  if not facts[1] then return end
  call('DEL', key)
  free(id, facts[1], facts[2], facts[3], facts[4])
end

-- Removes some of the reservations that were not bound in time.
local function dropExpired(most)
  for _, id in ipairs(call('ZRANGE', P .. 'reservations', '-inf', now, 'BYSCORE', 'LIMIT', 0, most)) do drop(id) end
end

local function record(id, kind, owner, name, worker, url)
  local key = P .. 'object:' .. id
  call('HSET', key, 'kind', kind, 'owner', owner, 'worker', worker, 'url', url)
  if name then call('HSET', key, 'name', name) end
end

-- Turns an object into its tombstone; "how" is "ended" or "lost".
local function bury(id, how, at, kept)
  local key = P .. 'object:' .. id
  local facts = call('HMGET', key, 'kind', 'owner', 'name', 'worker', 'ended', 'lost')
  if not facts[1] or facts[5] or facts[6] then return end
  free(id, facts[1], facts[2], facts[3], facts[4])
  local worker = P .. 'worker:' .. facts[4]
  if call('EXISTS', worker) == 1 then call('HINCRBY', worker, 'objects', -1) end
  if kept <= 0 then
    call('DEL', key)
    return
  end
  call('HSET', key, how, at)
  call('PEXPIRE', key, kept)
  if facts[3] then
    for _, owner in ipairs({ facts[2], '*' }) do
      call('SET', P .. 'past:' .. facts[1] .. ':' .. owner .. ':' .. facts[3], id, 'PX', kept)
    end
  end
end

-- Ends the registration of a worker; returns 1 while it holds more than "most" objects.
local function retire(worker, at, kept, most)
  withdraw(worker)
  if call('EXISTS', P .. 'worker:' .. worker) == 1 then call('HSET', P .. 'worker:' .. worker, 'state', 'lost') end
  local held = P .. 'held:' .. worker
  for _, id in ipairs(call('SRANDMEMBER', held, most)) do
    if id:sub(1, 4) == 'rsv_' then drop(id) else bury(id, 'lost', at, kept) end
    call('SREM', held, id)
  end
  if call('EXISTS', held) == 1 then return 1 end
  if call('ZREM', P .. 'workers', worker) == 1 then
    call('SET', P .. 'gone:' .. worker, at, 'PX', 86400000)
  end
  call('DEL', P .. 'worker:' .. worker)
  return 0
end
`
