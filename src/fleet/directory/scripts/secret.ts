/** Lua script for the secret of the fleet. */

export const claim = {
  flags: 'allow-oom',
  // ARGV: fingerprint, last renewal of another secret that has ended. Returns false if the fleet has this secret now,
  // and otherwise when a member with the other secret renewed it.
  lua: `
local key = P .. 'secret'
local known = call('HMGET', key, 'fingerprint', 'renewed')
if known[1] and known[1] ~= ARGV[1] and known[2] ~= ARGV[2] then return tonumber(known[2]) end
call('HSET', key, 'fingerprint', ARGV[1], 'renewed', now)
return false`,
} as const
