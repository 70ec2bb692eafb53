/** Lua scripts on the state of a crawl, each one atomic step. */
import { luaScript } from '../../redis/script.ts'

/**
 * Accepts a crawl, or a run of an ended one, within the quotas.
 * KEYS: meta, running, owned, all, builds. ARGV: id, request (empty to resume), most per key, most of all (0:
 * unlimited), build whose workers get it.
 * Returns the number of the run, or `key`, `all` for a reached quota, `running`, `missing`.
 */
export const acceptCrawl = luaScript<number | 'key' | 'all' | 'running' | 'missing'>(
  'crawl_accept',
  5,
  `
  local id, request, most, overall = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
  if request == '' and redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
  if redis.call('SISMEMBER', KEYS[2], id) == 1 then return 'running' end
  if most > 0 and redis.call('SCARD', KEYS[3]) >= most then return 'key' end
  if overall > 0 and redis.call('SCARD', KEYS[2]) >= overall then return 'all' end
  if request ~= '' then redis.call('HSET', KEYS[1], 'request', request, 'journal', 0, 'pages', 0, 'fence', 0, 'run', 0) end
  redis.call('HSET', KEYS[1], 'running', 1, 'from', redis.call('HGET', KEYS[1], 'journal'), 'build', ARGV[5])
  redis.call('SADD', KEYS[5], ARGV[5])
  redis.call('HDEL', KEYS[1], 'cancel')
  redis.call('SADD', KEYS[2], id)
  redis.call('SADD', KEYS[3], id)
  local now = redis.call('TIME')
  redis.call('ZADD', KEYS[4], now[1] * 1000 + math.floor(now[2] / 1000), id)
  return redis.call('HINCRBY', KEYS[1], 'run', 1)`,
)

/**
 * Gives a run to the workers of another build, unless a worker has its job. Results of visits are discarded: builds may
 * store them differently.
 * KEYS: meta, running, lock of the job, visits, builds. ARGV: id, run, build that has it, new build, prefix of
 * the fields of visits that stay.
 * Returns 0 if it was not moved.
 */
export const moveRun = luaScript<number>(
  'crawl_move',
  5,
  `
  if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 0 end
  local known = redis.call('HMGET', KEYS[1], 'run', 'build')
  if known[1] ~= ARGV[2] or known[2] ~= ARGV[3] or redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
  redis.call('HSET', KEYS[1], 'build', ARGV[4])
  for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
    if string.sub(field, 1, #ARGV[5]) ~= ARGV[5] then redis.call('HDEL', KEYS[4], field) end
  end
  redis.call('SADD', KEYS[5], ARGV[4])
  return 1`,
)

/**
 * Gives a coordinator a fencing token, which ends those of earlier ones.
 * KEYS: meta, running, lock of the job. ARGV: id, run, build, token of the lock (empty: nobody may have the lock).
 * Returns the fencing token; null if the job is not the coordinator's, or the run has ended.
 */
export const beginRun = luaScript<number | null>(
  'crawl_begin',
  3,
  `
  if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return false end
  local known = redis.call('HMGET', KEYS[1], 'run', 'build')
  if known[1] ~= ARGV[2] or known[2] ~= ARGV[3] then return false end
  if (redis.call('GET', KEYS[3]) or '') ~= ARGV[4] then return false end
  return redis.call('HINCRBY', KEYS[1], 'fence', 1)`,
)

/**
 * Writes one commit: bytes of the journal, and of pages.
 * KEYS: meta, all, parts of logs… ARGV: fencing token, id, channel, size of the journal before and after, end of the
 * written pages (0: none), then the offset and the bytes of every part.
 * A commit that was sent twice, because the connection was lost before the answer, is written once.
 */
export const writeCommit = luaScript<'done' | 'fenced' | 'behind'>(
  'crawl_commit',
  'any',
  `
  if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 'fenced' end
  local size = redis.call('HGET', KEYS[1], 'journal')
  if size == ARGV[5] then return 'done' end
  if size ~= ARGV[4] then return 'behind' end
  for at = 3, #KEYS do redis.call('SETRANGE', KEYS[at], ARGV[2 * at + 1], ARGV[2 * at + 2]) end
  redis.call('HSET', KEYS[1], 'journal', ARGV[5])
  if ARGV[6] ~= '0' then redis.call('HSET', KEYS[1], 'pages', ARGV[6]) end
  local now = redis.call('TIME')
  redis.call('ZADD', KEYS[2], now[1] * 1000 + math.floor(now[2] / 1000), ARGV[2])
  redis.call('PUBLISH', ARGV[3], 'commit')
  return 'done'`,
)

/**
 * Ends a run: the crawl no longer counts, and its unfinished visits are discarded.
 * KEYS: meta, running, owned, visits, site, progress. ARGV: fencing token, id, events channel, ended channel, whether
 * to discard what is kept about the site.
 */
export const endRun = luaScript<number>(
  'crawl_end',
  6,
  `
  if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
  redis.call('HDEL', KEYS[1], 'running', 'cancel')
  redis.call('SREM', KEYS[2], ARGV[2])
  redis.call('SREM', KEYS[3], ARGV[2])
  redis.call('DEL', KEYS[4], KEYS[6])
  if ARGV[5] == '1' then redis.call('DEL', KEYS[5]) end
  redis.call('PUBLISH', ARGV[3], 'end')
  redis.call('PUBLISH', ARGV[4], ARGV[2])
  return 1`,
)

/** Asks the coordinator to cancel. KEYS: meta, running. ARGV: id, channel. Returns 0 if the crawl does not run. */
export const askToCancel = luaScript<number>(
  'crawl_cancel',
  2,
  `
  if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then return 0 end
  redis.call('HSET', KEYS[1], 'cancel', 1)
  redis.call('PUBLISH', ARGV[2], 'cancel')
  return 1`,
)
