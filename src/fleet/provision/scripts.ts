/**
 * Lua scripts of provisions. A provision is a hash; three sorted sets hold the ones under way. Every script first takes
 * provisions back from lost workers and fails those whose time has passed, so that no process is needed for it.
 */
import { evenIfFull, luaScript } from '../redis/script.ts'

/** Stages in the only order in which a provision passes them. */
export const stageOrder = ['provisioning', 'scaling', 'worker_found', 'creating', 'ready', 'failed'] as const

/**
 * KEYS of every script:
 *  1 prefix of the queues, one for each build (ID by sequence), 2 taken (ID by the end of the worker's lease),
 *  3 deadlines (ID by deadline), 4 counter of sequences, 5 builds whose queues may have members.
 * ARGV of every script: 1 prefix of the hashes, 2 channel, 3 time to keep ended ones in ms, 4 attempts, 5 build of the
 * caller, 6 ID or ''.
 */
const prelude = `
local prefix, channel, kept, attempts, build, id = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local waiting, taken, deadlines, counter, builds = KEYS[1] .. build, KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- The sequence in which keys got their latest slots.
local served = counter .. ':served'
local order = { ${stageOrder.map((name, at) => `${name} = ${at + 1}`).join(', ')} }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Workers take provisions of gateways of their own build only.
local function queueOf(id)
  return KEYS[1] .. (redis.call('HGET', prefix .. id, 'build') or build)
end

local function advance(id, stage)
  local key = prefix .. id
  if order[stage] <= tonumber(redis.call('HGET', key, 'stage') or '0') then return end
  redis.call('HSET', key, 'stage', order[stage], 'at:' .. stage, now)
end

-- The job holds the caller and the input, which nobody needs afterwards.
local function finish(id, status, ...)
  local key = prefix .. id
  redis.call('ZREM', queueOf(id), id)
  redis.call('ZREM', taken, id)
  redis.call('ZREM', deadlines, id)
  if redis.call('EXISTS', key) == 0 then return end
  advance(id, status == 'ready' and 'ready' or 'failed')
  redis.call('HSET', key, 'status', status, 'ended', now, ...)
  redis.call('HDEL', key, 'job', 'take')
  redis.call('PEXPIRE', key, kept)
  redis.call('PUBLISH', channel, 'ended ' .. id)
end

local function back(id, isNews)
  local key = prefix .. id
  redis.call('ZREM', taken, id)
  redis.call('HDEL', key, 'take')
  redis.call('ZADD', queueOf(id), redis.call('HGET', key, 'sequence') or 0, id)
  redis.call('SADD', builds, redis.call('HGET', key, 'build') or build)
  if isNews then redis.call('PUBLISH', channel, 'waiting') end
end

-- Waiting ones in the order in which they get slots. Keys take turns: the one that got a slot least recently is first.
local function turns()
  local all, owners, last, sorted = redis.call('ZRANGE', waiting, 0, -1), {}, {}, {}
  for at, each in ipairs(all) do
    local owner = redis.call('HGET', prefix .. each, 'owner') or ''
    owners[at] = owner
    last[owner] = last[owner] or tonumber(redis.call('HGET', served, owner) or '0')
  end
  for turn = 1, #all do
    local first
    for at, owner in ipairs(owners) do
      if all[at] and (not first or last[owner] < last[owners[first]]) then first = at end
    end
    sorted[turn], all[first], last[owners[first]] = all[first], false, 2 ^ 52 + turn
  end
  return sorted
end

local function holds(id, take)
  return redis.call('HGET', prefix .. id, 'take') == take
end

for _, late in ipairs(redis.call('ZRANGEBYSCORE', deadlines, '-inf', now)) do
  local secs = tonumber(redis.call('HGET', prefix .. late, 'timeout') or '0') / 1000
  finish(late, 'failed', 'code', 'no_capacity', 'error',
    'no worker had a free slot within ' .. string.format('%g', secs) .. ' s')
end
for _, lost in ipairs(redis.call('ZRANGEBYSCORE', taken, '-inf', now)) do
  if tonumber(redis.call('HGET', prefix .. lost, 'attempts') or '0') < attempts then back(lost, true)
  else
    finish(lost, 'failed', 'code', 'worker_lost', 'error', attempts .. ' workers were lost while they created the session')
  end
end
`

/** Body, after the common part, of each script by the name of its command. */
const bodies = {
  /**
   * ARGV: 7 owner ('' without keys), 8 name ('' without), 9 timeout in ms, 10 most under way, 11 most of the owner
   * (0: unlimited), 12 job. Returns 'ok', 'full', 'owner' or 'name'.
   */
  begin: `
local owner, name = ARGV[7], ARGV[8]
-- Sent again, because the connection was lost before its answer came.
if redis.call('EXISTS', prefix .. id) == 1 then return 'ok' end
if redis.call('ZCARD', deadlines) >= tonumber(ARGV[10]) then return 'full' end
local own = 0
for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
  local its = redis.call('HMGET', prefix .. other, 'owner', 'name')
  if its[1] == owner then
    own = own + 1
    if name ~= '' and its[2] == name then return 'name' end
  end
end
if tonumber(ARGV[11]) > 0 and own >= tonumber(ARGV[11]) then return 'owner' end
local sequence = redis.call('INCR', counter)
redis.call('HSET', prefix .. id, 'build', build, 'owner', owner, 'name', name, 'status', 'provisioning', 'created', now,
  'timeout', ARGV[9], 'sequence', sequence, 'job', ARGV[12])
advance(id, 'provisioning')
-- In case that no process is left to fail it.
redis.call('PEXPIRE', prefix .. id, ARGV[9] + 2 * kept)
redis.call('ZADD', waiting, sequence, id)
redis.call('SADD', builds, build)
redis.call('ZADD', deadlines, now + ARGV[9], id)
redis.call('PUBLISH', channel, 'waiting')
return 'ok'`,

  /** Returns the fields of the hash and their values, then the position in the queue (-1: not queued). */
  read: `
local fields = redis.call('HGETALL', prefix .. id)
if #fields == 0 then return fields end
fields[#fields + 1] = 'position'
local position = -1
if redis.call('ZSCORE', queueOf(id), id) then
  waiting = queueOf(id)
  for at, each in ipairs(turns()) do if each == id then position = at - 1 end end
end
fields[#fields + 1] = tostring(position)
return fields`,

  /** Returns the number of waiting ones and of those being created, and the age of the oldest waiting one in ms (-1: none). */
  state: `
local queued = redis.call('ZCARD', waiting)
local oldest = queued > 0 and redis.call('HGET', prefix .. redis.call('ZRANGE', waiting, 0, 0)[1], 'created')
return { queued, redis.call('ZCARD', taken), oldest and now - oldest or -1 }`,

  /** Returns ID, number of the stage and age in ms of those under way, oldest first. */
  list: `
local found = {}
for _, each in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
  local its = redis.call('HMGET', prefix .. each, 'stage', 'created')
  if its[1] then table.insert(found, { each, tonumber(its[1]), now - its[2] }) end
end
table.sort(found, function(a, b) return a[3] > b[3] end)
return found`,

  /**
   * ARGV: 7 take, which identifies this attempt, 8 lease in ms. Returns {ID, owner, name, job}, or nothing. The provision
   * stays in the queue until the worker has found a slot.
   */
  take: `
local first
for _, each in ipairs(turns()) do
  if redis.call('EXISTS', prefix .. each) == 0 then
    -- Its hash expired while Redis was away.
    redis.call('ZREM', waiting, each)
    redis.call('ZREM', deadlines, each)
  elseif not redis.call('ZSCORE', taken, each) then
    first = each
    break
  end
end
if not first then return {} end
redis.call('ZADD', taken, now + ARGV[8], first)
redis.call('HSET', prefix .. first, 'take', ARGV[7])
return { first, unpack(redis.call('HMGET', prefix .. first, 'owner', 'name', 'job')) }`,

  /** ARGV: 7… builds whose workers accept work. Moves what waits for other builds to this one; returns how many. */
  adopt: `
local ready, moved = {}, 0
for at = 7, #ARGV do ready[ARGV[at]] = true end
for _, other in ipairs(redis.call('SMEMBERS', builds)) do
  if not ready[other] then
    local queue = KEYS[1] .. other
    for _, each in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
      local sequence = redis.call('HGET', prefix .. each, 'sequence')
      -- One that a worker has taken is queued again if the worker has no slot for it.
      if sequence and not redis.call('ZSCORE', taken, each) then
        redis.call('ZREM', queue, each)
        redis.call('HSET', prefix .. each, 'build', build)
        redis.call('ZADD', waiting, sequence, each)
        moved = moved + 1
      end
    end
    if redis.call('EXISTS', queue) == 0 then redis.call('SREM', builds, other) end
  end
end
if moved > 0 then
  redis.call('SADD', builds, build)
  redis.call('PUBLISH', channel, 'waiting')
end
return moved`,

  /**
   * ARGV: 7 take, 8 '1' if another worker may have a slot for it, 9 code and 10 message of a failure or ''. Queues it
   * again at its old position, unless it has failed too often.
   */
  giveBack: `
if not holds(id, ARGV[7]) then return 0 end
if ARGV[9] ~= '' and tonumber(redis.call('HGET', prefix .. id, 'attempts') or '0') >= attempts then
  finish(id, 'failed', 'code', ARGV[9], 'error', ARGV[10])
  return 1
end
back(id, ARGV[8] == '1')
return 1`,

  /** ARGV: 7 take. The worker has a slot for it. Returns 0 when it is no longer the worker's. */
  found: `
if not holds(id, ARGV[7]) then return 0 end
redis.call('ZREM', waiting, id)
redis.call('HINCRBY', prefix .. id, 'attempts', 1)
-- Without a scaler, or before it was asked, a free slot is all that was waited for.
advance(id, 'scaling')
redis.call('HSET', served, redis.call('HGET', prefix .. id, 'owner') or '', redis.call('INCR', counter))
redis.call('PEXPIRE', served, kept)
advance(id, 'worker_found')
advance(id, 'creating')
return 1`,

  /** ARGV: 7 take, 8 lease in ms. Returns 0 when it is no longer the worker's. */
  renew: `
if not holds(id, ARGV[7]) then return 0 end
redis.call('ZADD', taken, now + ARGV[8], id)
return 1`,

  /** ARGV: 7 take, 8 status, then fields and values of the result. Returns 0 when it is no longer the worker's. */
  finish: `
if not holds(id, ARGV[7]) then return 0 end
finish(id, ARGV[8], unpack(ARGV, 9))
return 1`,

  cancel: `
if redis.call('HGET', prefix .. id, 'status') ~= 'provisioning' then return 0 end
finish(id, 'cancelled', 'code', 'cancelled', 'error', 'the provisioning was cancelled')
return 1`,

  /** ARGV: 7 owner ('' without keys). Cancels its provisions under way, and returns their IDs. */
  cancelOwn: `
local own = {}
for _, each in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
  if redis.call('HGET', prefix .. each, 'owner') == ARGV[7] then
    finish(each, 'cancelled', 'code', 'cancelled', 'error', 'the provisioning was cancelled')
    table.insert(own, each)
  end
end
return own`,

  /** The scaler was asked for a worker. */
  scaling: `
for _, each in ipairs(redis.call('ZRANGE', waiting, 0, -1)) do advance(each, 'scaling') end
return 0`,
} as const

export type ScriptName = keyof typeof bodies

const keysOfAll = 5

/** The scripts. Only new provisions are refused when the memory of Redis is full. */
export const scripts = Object.entries(bodies).map(([name, body]) => ({
  name,
  run: luaScript(`provision_${name}`, keysOfAll, body, { ...(name === 'begin' ? { flags: '' } : evenIfFull), prelude }),
}))
