/** Lua scripts for the objects that live on workers. */

export const bind = {
  // ARGV: worker, url, object ID, kind, owner, "1" with a name, name, reservation ID or "".
  // Returns 'bound', 'lost' without a lease, or 'conflict'.
  lua: `
-- Moves what a reservation holds to an object, if it was made for it; otherwise removes the reservation.
local function inherit(id, kind, owner, name, worker, reservation)
  local key = P .. 'reservation:' .. reservation
  local facts = call('HMGET', key, 'kind', 'owner', 'name', 'worker')
  if facts[1] ~= kind or facts[2] ~= owner or facts[3] ~= name or facts[4] ~= worker then
    drop(reservation)
    return false
  end
  call('ZREM', P .. 'reservations', reservation)
  call('DEL', key)
  call('SREM', P .. 'held:' .. worker, reservation)
  call('SADD', P .. 'held:' .. worker, id)
  if name then
    call('ZADD', nameKey(kind, owner, name), now, id)
    call('ZREM', nameKey(kind, owner, name), reservation)
  end
  return true
end

local worker, id, kind, owner, name = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6] == '1' and ARGV[7]
if not alive(worker) then return 'lost' end
local key = P .. 'object:' .. id
local holder = call('HGET', key, 'worker')
if holder then return holder == worker and 'bound' or 'conflict' end
if ARGV[8] == '' or not inherit(id, kind, owner, name, worker, ARGV[8]) then
  if name and holderOf(kind, owner, name) then return 'conflict' end
  take(id, kind, owner, name, worker)
end
call('HINCRBY', P .. 'worker:' .. worker, 'objects', 1)
record(id, kind, owner, name, worker, ARGV[2])
return 'bound'`,
} as const

export const end = {
  flags: 'allow-oom',
  // ARGV: worker, object ID, lifetime of the tombstone; then, if the worker held the object: url, kind, owner, "1" with a
  // name, name. Its record may be lost with the data of Redis.
  lua: `
local worker, id, kept = ARGV[1], ARGV[2], tonumber(ARGV[3])
local holder = call('HGET', P .. 'object:' .. id, 'worker')
if not holder and ARGV[4] and kept > 0 then
  record(id, ARGV[5], ARGV[6], ARGV[7] == '1' and ARGV[8], worker, ARGV[4])
  -- As when it was bound: "bury" counts it down.
  if call('EXISTS', P .. 'worker:' .. worker) == 1 then call('HINCRBY', P .. 'worker:' .. worker, 'objects', 1) end
  holder = worker
end
if holder ~= worker then return 0 end
bury(id, 'ended', now, kept)
return 1`,
} as const

export const find = {
  flags: 'no-writes',
  // ARGV: ID or name, owner, "1" for objects of all owners, kinds with names…
  // Returns a row by ID (or nothing), rows by name, and rows of ended ones by name.
  // Row: ID, kind, owner, name, worker, url, lost, ended.
  lua: `
local text, owner, all = ARGV[1], ARGV[2], ARGV[3] == '1'
local function row(id)
  local facts = call('HMGET', P .. 'object:' .. id, 'kind', 'owner', 'name', 'worker', 'url', 'lost', 'ended')
  if not facts[1] then return nil end
  local lost = facts[6]
  if not lost then
    local lease = call('ZSCORE', P .. 'workers', facts[4])
    if not lease then
      lost = call('GET', P .. 'gone:' .. facts[4]) or now
    elseif not valid(tonumber(lease)) then
      lost = lease
    end
  end
  return { id, facts[1], facts[2], facts[3], facts[4], facts[5], lost and tostring(lost), facts[7] }
end
local live, past = {}, {}
for at = 4, #ARGV do
  local kind = ARGV[at]
  for _, one in ipairs(all and call('SMEMBERS', P .. 'owners:' .. kind .. ':' .. text) or { owner }) do
    for _, id in ipairs(call('ZRANGE', nameKey(kind, one, text), 0, -1)) do table.insert(live, row(id)) end
  end
  local last = call('GET', P .. 'past:' .. kind .. ':' .. (all and '*' or owner) .. ':' .. text)
  if last then table.insert(past, row(last)) end
end
return { row(text) or {}, live, past }`,
} as const
