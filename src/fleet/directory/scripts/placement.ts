/** Lua scripts that choose workers. */

export const reserve = {
  // ARGV: reservation ID, kind, owner, most, "1" with a name, name, build, lifetime, ID of the only worker or "",
  // IDs of excluded workers…
  // Returns {'reserved', worker, url}, {'too_many'}, {'conflict', kind} or {'none'}.
  lua: `
local id, kind, owner, most, name, build = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5] == '1' and ARGV[6], ARGV[7]
local key = P .. 'reservation:' .. id
local known = call('HMGET', key, 'worker', 'url')
if known[1] then return { 'reserved', known[1], known[2] } end
dropExpired(10)
if most > 0 and tonumber(call('HGET', P .. 'counts', kind .. ':' .. owner) or 0) >= most then return { 'too_many' } end
local holder = name and holderOf(kind, owner, name)
if holder then return { 'conflict', holder } end
local candidates = P .. 'free:' .. build .. ':' .. kind
local excluded = {}
for at = 10, #ARGV do excluded[ARGV[at]] = true end
local rank = 0
while true do
  local first = call('ZRANGE', candidates, rank, rank, 'WITHSCORES')
  if ARGV[9] ~= '' then first = { ARGV[9], call('ZSCORE', candidates, ARGV[9]) or full } end
  if not first[1] or tonumber(first[2]) >= full then return { 'none' } end
  local worker = first[1]
  if excluded[worker] and ARGV[9] == '' then
    rank = rank + 1
  elseif not alive(worker) then
    call('ZREM', candidates, worker)
  elseif not hasFree(worker, kind) then
    -- A gateway of another build has written its rank. Without facts it gets none.
    call('ZREM', candidates, worker)
    place(worker, kind)
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
  // ARGV: reservation ID; then, after a failure, its worker and the kind of the object, or "".
  lua: `
drop(ARGV[1])
local worker, kind = ARGV[2], ARGV[3]
if worker ~= '' and call('EXISTS', P .. 'worker:' .. worker) == 1 then
  local penalty = tonumber(call('HGET', P .. 'worker:' .. worker, 'penalty:' .. kind) or 0)
  call('HSET', P .. 'worker:' .. worker, 'penalty:' .. kind, tostring(math.min(1, penalty + 0.5)))
  place(worker, kind)
end
return 1`,
} as const

export const loads = {
  flags: 'no-writes',
  // ARGV: build, label. Returns the ID, load, URL and page slots of each live worker that gets new pages.
  lua: `
local found = {}
local ranked = call('ZRANGE', P .. 'load:' .. ARGV[1] .. ':' .. ARGV[2], 0, -1, 'WITHSCORES')
for at = 1, #ranked, 2 do
  local worker = ranked[at]
  if alive(worker) then
    local facts = call('HMGET', P .. 'worker:' .. worker, 'url', 'pages')
    table.insert(found, { worker, ranked[at + 1], facts[1], facts[2] })
  end
end
return found`,
} as const
