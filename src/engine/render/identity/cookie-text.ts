/** Reads cookies as callers give them: a list, or the text of a header, a file or a command. */
import { BaxError } from '../../../core/errors/errors.ts'
import type { IdentityCookies } from '../../../core/shapes/read/identity.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'
import { type JarCookie, parsePair } from './set-cookie.ts'

/** Fields of cookies in lists of bax, Playwright and browser extensions. */
interface ListedCookie {
  readonly name?: unknown
  readonly value?: unknown
  readonly domain?: unknown
  readonly path?: unknown
  readonly secure?: unknown
  readonly [field: string]: unknown
}

/** Returns the cookies; those without a domain are for the host of `start`. @throws BaxError `invalid_request` */
export function readCookies(given: IdentityCookies, start: URL): JarCookie[] {
  const cookies = cookiesIn(given, start)
  for (const { name, value } of cookies) {
    if (/[\s"=;]/.test(name)) throw refused('must have names without spaces, quotes, "=" and ";"')
    if (/\p{Cc}/u.test(name + value)) throw refused('must not contain control characters')
  }
  return cookies
}

function cookiesIn(given: IdentityCookies, start: URL): JarCookie[] {
  if (typeof given !== 'string') return given.map((cookie) => fromList(cookie, start))
  const text = given.trim()
  if (/^[[{]/.test(text)) return fromJson(text, start)
  if (/^curl\b/i.test(text)) return fromCurl(text, start)
  if (/^#.*cookie|\t.*\t/im.test(text)) return fromNetscape(text)
  return fromHeader(text.replace(/^cookie:\s*/i, ''), start)
}

const refused = (message: string): BaxError =>
  new BaxError('invalid_request', `cookies ${message}`, { details: [{ path: 'cookies', message }] })

function fromHeader(text: string, { hostname }: URL): JarCookie[] {
  const pairs = text
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean)
  // The text is not repeated: it may be a secret.
  if (pairs.some((pair) => !pair.includes('=')))
    throw refused('must be name=value pairs separated by "; ", a Netscape or JSON file, or a curl command')
  return pairs.map((pair) => ({ ...parsePair(pair), domain: hostname, ...sessionCookie }))
}

const sessionCookie = { path: '/', expires: -1, httpOnly: false, secure: false, sameSite: 'Lax' } as const

function fromJson(text: string, start: URL): JarCookie[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The error would repeat the text.
    throw refused('are not valid JSON')
  }
  const list = Array.isArray(value) ? value : (value as { cookies?: unknown }).cookies
  if (!Array.isArray(list)) throw refused('must be a list of cookies, or an object with the list `cookies`')
  return list.map((cookie: ListedCookie) => fromList(cookie, start))
}

function fromList(cookie: ListedCookie, start: URL): JarCookie {
  const { name, value, domain, path, secure } = cookie
  if (typeof name !== 'string' || typeof value !== 'string') throw refused('must each have a name and a value')
  const expires = cookie['expires'] ?? cookie['expirationDate']
  const sameSite = String(cookie['same_site'] ?? cookie['sameSite']).toLowerCase()
  return {
    name,
    value,
    domain: typeof domain === 'string' && domain !== '' ? domain.toLowerCase() : start.hostname,
    path: typeof path === 'string' && path.startsWith('/') ? path : '/',
    expires: typeof expires === 'number' && expires > 0 ? expires : -1,
    httpOnly: (cookie['http_only'] ?? cookie['httpOnly']) === true,
    secure: secure === true,
    sameSite: sameSite === 'strict' ? 'Strict' : /^(?:none|no_restriction)$/.test(sameSite) ? 'None' : 'Lax',
  }
}

/** Reads a `cookies.txt`: domain, subdomains, path, secure, expiry, name and value, separated by tabs. */
function fromNetscape(text: string): JarCookie[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !/^#(?!HttpOnly_)/.test(line))
  return lines.map((line, at) => {
    const [domain, subdomains, path, secure, expires, name, value = ''] = line.replace(/^#HttpOnly_/, '').split('\t')
    if (name === undefined) throw refused(`have ${line.split('\t').length} fields instead of 7 in line ${at + 1}`)
    const host = domain!.toLowerCase().replace(/^\./, '')
    return {
      name,
      value,
      domain: subdomains === 'TRUE' ? `.${host}` : host,
      path: path!.startsWith('/') ? path! : '/',
      expires: Number(expires) > 0 ? Number(expires) : -1,
      httpOnly: line.startsWith('#HttpOnly_'),
      secure: secure === 'TRUE',
      sameSite: 'Lax' as const,
    }
  })
}

/** Reads the cookies of a command that browsers copy: `-b 'a=1; b=2'` or `-H 'Cookie: …'`; they are for its URL. */
function fromCurl(text: string, start: URL): JarCookie[] {
  const words = wordsOf(text)
  const values = words.flatMap((word, at) => {
    const value = words[at + 1] ?? ''
    const isCookie = /^(?:-b|--cookie)$/.test(word) || (/^(?:-H|--header)$/.test(word) && /^cookie:/i.test(value))
    return isCookie ? [value] : []
  })
  if (values.length === 0) throw refused('of the curl command are missing: it has no -b and no Cookie header')
  const url = parseUrl(words.find((word) => /^https?:\/\//i.test(word)) ?? '') ?? start
  return values.flatMap((value) => fromHeader(value.replace(/^cookie:\s*/i, ''), url))
}

const quoted = /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\])/gs
const wordPattern = new RegExp(`(?:${quoted.source})+`, 'gs')

/** Splits a command into words, as shells of Unix do, or `cmd.exe` where its escape `^` precedes quotes. */
function wordsOf(command: string): string[] {
  const plain = command.includes('^"') ? command.replace(/\^\r?\n/g, ' ').replace(/\^(.)/gs, '$1') : command
  return Array.from(plain.replace(/\\\r?\n/g, ' ').matchAll(wordPattern), ([word]) =>
    word.replace(quoted, (_, ansi?: string, single?: string, double?: string, escaped?: string, bare?: string) =>
      ansi === undefined
        ? (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? bare!)
        : ansi.replace(/\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gis, (__, unicode, hex, one: string) =>
            one === undefined ? String.fromCharCode(parseInt(unicode ?? hex, 16)) : (ansiEscapes[one] ?? one),
          ),
    ),
  )
}

const ansiEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
