import { describe, expect, test } from 'vitest'
import { isDirect } from '../../../src/core/net/no-proxy.ts'

describe('a host is connected to directly', () => {
  test.each([
    ['a name, and its subdomains', 'shop.test', 'shop.test', 80],
    ['a name, and its subdomains', 'shop.test', 'www.shop.test', 443],
    ['a leading dot or star, also for the name itself', '.shop.test', 'shop.test', 80],
    ['a leading dot or star, also for the name itself', '*.shop.test', 'a.b.shop.test', 80],
    ['upper case and final dots', 'Shop.Test.', 'SHOP.test.', 80],
    ['one of several, separated by commas or spaces', 'a.test, b.test  c.test', 'c.test', 80],
    ['a port', 'shop.test:8080', 'www.shop.test', 8080],
    ['everything', 'a.test,*', 'example.com', 443],
    ['an address', '10.1.2.3', '10.1.2.3', 80],
    ['a range', '10.0.0.0/8', '10.200.0.1', 80],
    ['a range', 'fd00::/8', 'fd12::1', 80],
    ['an address with a port', '[fd00::1]:8080', 'fd00::1', 8080],
    ['this machine, without an entry', '', 'localhost', 80],
    ['this machine, without an entry', '', 'app.localhost', 80],
    ['this machine, without an entry', 'shop.test', '127.8.9.1', 80],
    ['this machine, without an entry', '', '::1', 80],
    ['this machine, without an entry', '', '::ffff:7f00:1', 80],
  ])('%s: %j has %s:%s', (_, list, host, port) => {
    expect(isDirect(list, host, port)).toBe(true)
  })

  test.each([
    ['another name that ends alike', 'shop.test', 'workshop.test', 80],
    ['a parent domain', 'www.shop.test', 'shop.test', 80],
    ['another port', 'shop.test:8080', 'shop.test', 80],
    ['an address outside of the range', '10.0.0.0/8', '11.0.0.1', 80],
    ['a range that is none', '10.0.0.0/99,10.0.0.0/x,/8', '10.0.0.1', 80],
    ['a name that looks like an address', '10.0.0.1', '10.0.0.1.test', 80],
    ['this machine, if the list says so', '<-loopback>', 'localhost', 80],
    ['this machine, if the list says so', 'a.test <-loopback>', '127.0.0.1', 80],
    ['an empty list', '', 'example.com', 80],
    ['empty entries', ' , ,.', 'example.com', 80],
  ])('not %s: %j has no %s:%s', (_, list, host, port) => {
    expect(isDirect(list, host, port)).toBe(false)
  })
})
