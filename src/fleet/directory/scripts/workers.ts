/** Lua scripts for the registration of workers. */
import { lookLua } from '../../redis/lease-clock.ts'

export const register = {
  // ARGV: worker, lease, info, url, build, labels that work, why others are broken (JSON), pages, slots for sessions,
  // shells and relays.
  lua: `
local worker, build = ARGV[1], ARGV[5]
local key = P .. 'worker:' .. worker
call('ZADD', P .. 'workers', now + ARGV[2], worker)
if call('EXISTS', key) == 1 then return now end
call('HSET', key, 'info', ARGV[3], 'url', ARGV[4], 'build', build, 'labels', ARGV[6], 'broken', ARGV[7],
  'pages', ARGV[8], 'state', 'ready', 'seen', now, 'busy', 0, 'memory', 0, 'objects', 0)
for at, kind in ipairs({ 'session', 'shell', 'relay' }) do
  call('HSET', key, 'slots:' .. kind, ARGV[8 + at])
  place(worker, kind)
end
if tonumber(ARGV[8]) > 0 then
  for label in ARGV[6]:gmatch('[^,]+') do call('ZADD', P .. 'load:' .. build .. ':' .. label, 0, worker) end
end
return now`,
} as const

export const heartbeat = {
  flags: 'allow-oom',
  // ARGV: worker, lease, busy pages, memory, difference of clocks, labels that work, why others are broken (JSON).
  // Returns {'lost'} or {state, number of objects, time}.
  lua: `
local worker = ARGV[1]
local key = P .. 'worker:' .. worker
local facts = call('HMGET', key, 'state', 'build', 'labels', 'pages', 'objects')
if not facts[1] or facts[1] == 'lost' or not alive(worker) then return { 'lost' } end
call('ZADD', P .. 'workers', now + ARGV[2], worker)
call('HSET', key, 'seen', now, 'busy', ARGV[3], 'memory', ARGV[4], 'skew', ARGV[5])
if facts[3] ~= ARGV[6] then withdraw(worker) end
call('HSET', key, 'labels', ARGV[6], 'broken', ARGV[7])
for kind in pairs(slotted) do
  -- Some failures are forgotten after half a minute.
  local penalty = tonumber(call('HGET', key, 'penalty:' .. kind) or 0) * 0.8
  if penalty >= 0.1 then call('HSET', key, 'penalty:' .. kind, tostring(penalty))
  else call('HDEL', key, 'penalty:' .. kind) end
  place(worker, kind)
end
if facts[1] == 'ready' and tonumber(facts[4]) > 0 then
  for label in ARGV[6]:gmatch('[^,]+') do
    call('ZADD', P .. 'load:' .. facts[2] .. ':' .. label, ARGV[3] / facts[4], worker)
  end
end
return { facts[1], tonumber(facts[5]), now }`,
} as const

export const live = {
  flags: 'no-writes',
  // Returns the time and the IDs of the workers with a lease.
  lua: `
local found = {}
for _, worker in ipairs(call('ZRANGE', P .. 'workers', 0, -1)) do
  if alive(worker) then table.insert(found, worker) end
end
return { now, found }`,
} as const

export const drain = {
  flags: 'allow-oom',
  // ARGV: worker. Returns 0 without its lease.
  lua: `
if not alive(ARGV[1]) then return 0 end
withdraw(ARGV[1])
call('HSET', P .. 'worker:' .. ARGV[1], 'state', 'draining')
return 1`,
} as const

export const leave = {
  flags: 'allow-oom',
  // ARGV: worker, lifetime of tombstones, most objects per call. Returns 1 if it must be called again.
  lua: `
local lease = call('ZSCORE', P .. 'workers', ARGV[1])
if not lease then return 0 end
return retire(ARGV[1], math.min(tonumber(lease), now), tonumber(ARGV[2]), tonumber(ARGV[3]))`,
} as const

export const reap = {
  flags: 'allow-oom',
  // ARGV: lifetime of tombstones, most objects per call, lease. Returns a lost worker, with 1 if it must be called again
  // for it. After a pause, workers get the time of a lease to renew theirs.
  lua: `
dropExpired(100)
if paused then
  for _, worker in ipairs(call('ZRANGE', P .. 'workers', '(' .. pulse, now, 'BYSCORE')) do
    call('ZADD', P .. 'workers', now + ARGV[3], worker)
  end
end
${lookLua}local lost = call('ZRANGE', P .. 'workers', '-inf', now, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
if not lost[1] then return {} end
return { lost[1], retire(lost[1], lost[2], tonumber(ARGV[1]), tonumber(ARGV[2])) }`,
} as const
