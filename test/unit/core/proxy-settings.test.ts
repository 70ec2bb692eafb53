import { expect, test } from 'vitest'
import { proxiesDigest, proxyEnvironment, readProxies, shownProxy } from '../../../src/core/config/proxy-settings.ts'

const urls = (env: Record<string, string>) => {
  const { http, https, except } = readProxies(env) ?? {}
  return { http: http?.url, https: https?.url, except }
}

test('reads a proxy for each scheme, and one for both', () => {
  expect(urls({ HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'https://b:2' })).toEqual({
    http: 'http://a:1/',
    https: 'https://b:2/',
    except: '',
  })
  expect(urls({ ALL_PROXY: 'http://a:1', https_proxy: 'http://b:2' })).toEqual({
    http: 'http://a:1/',
    https: 'http://b:2/',
    except: '',
  })
  expect(readProxies({ NO_PROXY: 'a.test' })).toBeUndefined()
  expect(readProxies({ HTTP_PROXY: '', ALL_PROXY: '' })).toBeUndefined()
})

test('prefers lower case, and ignores empty variables', () => {
  expect(urls({ HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:2' }).http).toBe('http://b:2/')
  expect(urls({ HTTP_PROXY: 'http://a:1', http_proxy: '' }).http).toBe('http://a:1/')
  expect(urls({ ALL_PROXY: 'http://a:1', NO_PROXY: 'A', no_proxy: 'b' }).except).toBe('b')
})

test('accepts hosts without a scheme, and other names of SOCKS', () => {
  const read = (text: string) => urls({ ALL_PROXY: text }).http
  expect(read('proxy:3128')).toBe('http://proxy:3128/')
  expect(read('ann:pw@proxy:3128')).toBe('http://ann:pw@proxy:3128/')
  expect(read('socks5h://proxy:1080')).toBe('socks5://proxy:1080')
  expect(read('socks4a://proxy:1080')).toBe('socks4://proxy:1080')
})

test('a program that a server runs for a request ignores HTTP_PROXY, which may be a header', () => {
  expect(readProxies({ REQUEST_METHOD: 'GET', HTTP_PROXY: 'http://evil:1' })).toBeUndefined()
  expect(urls({ REQUEST_METHOD: 'GET', http_proxy: 'http://a:1' }).http).toBe('http://a:1/')
})

test('an invalid proxy is an error with its variable, but without its password; BAX_NO_PROXY ignores it', () => {
  const env = { HTTPS_PROXY: 'ftp://ann:secret@proxy' }
  expect(() => readProxies(env)).toThrow(/^HTTPS_PROXY is not an http, https, socks4 or socks5 URL$/)
  expect(readProxies({ ...env, BAX_NO_PROXY: '1' })).toBeUndefined()
})

test('is shown without a password, also as a digest', () => {
  expect(shownProxy('http://ann:secret@proxy:3128/')).toBe('http://proxy:3128')
  const [first, second] = ['secret', 'other'].map((pw) => proxiesDigest(readProxies({ ALL_PROXY: `http://a:${pw}@p` })))
  expect(first).toMatch(/^[0-9a-f]{16}$/)
  expect(second).not.toBe(first)
  expect(proxiesDigest(readProxies({ all_proxy: 'http://a:secret@p' }))).toBe(first)
})

test('other programs get the variables in both cases', () => {
  expect(proxyEnvironment(readProxies({ HTTP_PROXY: 'proxy:3128', NO_PROXY: 'a' }))).toEqual({
    http_proxy: 'http://proxy:3128/',
    HTTP_PROXY: 'http://proxy:3128/',
    no_proxy: 'a',
    NO_PROXY: 'a',
  })
  expect(proxyEnvironment(undefined)).toEqual({})
})
