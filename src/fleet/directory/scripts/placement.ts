/** Lua scripts that choose workers. */

export const reserve = {
  // ARGV: reservation ID, kind, owner, most, "1" with a name, name, build, lifetime, ID of the only worker or "",
  // IDs of excluded workers…
  // Returns {'reserved', worker, url}, {'too_many'}, {'conflict'} or {'none'}.
  lua: `
local id, kind, owner, most, name, build = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1' and ARGV[6], ARGV[7]
local key = P .. 'reservation:' .. id
local known = call('HMGET', key, 'worker', 'url')
if known[1] then return { 'reserved', known[1], known[2] } end
dropExpired(10)
if most > 0 and tonumber(call('HGET', P .. 'counts', kind .. ':' .. owner) or 0) >= most then return { 'too_many' } end
if name and call('EXISTS', nameKey(kind, owner, name)) == 1 then return { 'conflict' } end
local candidates = P .. 'free:' .. build .. ':' .. kind
local excluded = {}
for at = 10, #ARGV do excluded[ARGV[at]] = true end
local rank = 0
while true do
  local first = call('ZRANGE', candidates, rank, rank, 'WITHSCORES')
  if ARGV[9] ~= '' then first = { ARGV[9], call('ZSCORE', candidates, ARGV[9]) or 1 } end
  if not first[1] or tonumber(first[2]) >= 1 then return { 'none' } end
  local worker = first[1]
  if excluded[worker] and ARGV[9] == '' then
    rank = rank + 1
  elseif not alive(worker) then
    call('ZREM', candidates, worker)
  else
    local url = call('HGET', P .. 'worker:' .. worker, 'url')
    call('HSET', key, 'kind', kind, 'owner', owner, 'worker', worker, 'url', url)
    if name then call('HSET', key, 'name', name) end
    call('ZADD', P .. 'reservations', now + ARGV[8], id)
    take(id, kind, owner, name, worker)
    return { 'reserved', worker, url }
  end
end`,
} as const

export const release = {
  flags: 'allow-oom',
  // ARGV: reservation ID.
  lua: `
drop(ARGV[1])
return 1`,
} as const

export const leastLoaded = {
  // ARGV: build, label, affinity or "", IDs of excluded workers… With an affinity, the workers that have a free page slot
  // are tried in an order of its own (rendezvous hashing), and only then by load. Returns the fields of the worker, its ID and the time; or nothing.
  // Counts a page for it until its next heartbeat, so that work spreads in the meantime; not for the worker of an
  // affinity, where most requests are answered from the cache, and which would count as full after a few of them.
  flags: 'allow-oom',
  lua: `
local candidates = P .. 'load:' .. ARGV[1] .. ':' .. ARGV[2]
local excluded = {}
for at = 4, #ARGV do excluded[ARGV[at]] = true end
local order = {}
if ARGV[3] ~= '' then
  local hash = {}
  order = call('ZRANGEBYSCORE', candidates, '-inf', '(1')
  for _, worker in ipairs(order) do hash[worker] = redis.sha1hex(ARGV[3] .. worker) end
  table.sort(order, function(a, b) return hash[a] < hash[b] end)
end
local preferred = #order
for _, worker in ipairs(call('ZRANGE', candidates, 0, #ARGV + 20)) do table.insert(order, worker) end
local lost = {}
local chosen, rank
for at, worker in ipairs(order) do
  if not alive(worker) then
    table.insert(lost, worker)
  elseif not excluded[worker] then
    chosen, rank = worker, at
    break
  end
end
for _, worker in ipairs(lost) do call('ZREM', candidates, worker) end
if not chosen then return { #lost } end
local key = P .. 'worker:' .. chosen
if rank > preferred then call('ZINCRBY', candidates, 1 / tonumber(call('HGET', key, 'pages')), chosen) end
return { 0, chosen, now, call('HGETALL', key) }`,
} as const
