/** Jobs of a person or an agent on DokuWiki. */
import { expect } from 'vitest'
import type { Subject } from '../application-jobs.ts'
import { startWiki, type Wiki } from '../dokuwiki.ts'
import type { Driver } from '../session-drivers.ts'

const wikiAt = ({ url }: Wiki, query: string) => `${url}/doku.php?${query}`
async function loginToWiki(driver: Driver, wiki: Wiki, page = 'start'): Promise<void> {
  await driver.open(wikiAt(wiki, `id=${page}&do=login`))
  await driver.fill('textbox "Username"', wiki.user)
  await driver.fill('textbox "Password"', wiki.password)
  await driver.click('button "Log In"')
  await driver.see('Logged in as')
}

async function startFilledWiki(): Promise<Wiki> {
  const wiki = await startWiki()
  await wiki.add('tea', '====== Tea ======\nLeaves.\n\n===== Green =====\nSencha.\n\n===== Black =====\nAssam.\n')
  return wiki
}

export const dokuWiki = {
  name: 'DokuWiki',
  start: startFilledWiki,
  jobs: [
    {
      title: 'creates a page',
      by: 'cli',
      usual: true,
      async use(driver, wiki) {
        await loginToWiki(driver, wiki, 'zebra')
        await driver.open(wikiAt(wiki, 'id=zebra&do=edit'))
        await driver.fill('#wiki__text', '====== Zebras ======\nStripes & **grass**.')
        await driver.click('#edbtn__save')
        await driver.see('Stripes')
        await driver.read('#dokuwiki__content h1')
      },
      stored: (wiki) => wiki.page('zebra'),
      expected: '====== Zebras ======\nStripes & **grass**.',
    },
    {
      title: 'edits a section of a page, with a summary',
      by: 'mcp',
      async use(driver, wiki) {
        await loginToWiki(driver, wiki, 'tea')
        await driver.open(wikiAt(wiki, 'id=tea'))
        await driver.click('button[title=Green]')
        await driver.fill('#wiki__text', '===== Green =====\nSencha and matcha.\n')
        await driver.fill('#edit__summary', 'powder')
        await driver.check('#edit__minoredit')
        await driver.click('#edbtn__save')
        await driver.see('matcha')
        await driver.open(wikiAt(wiki, 'id=tea&do=revisions'))
        await driver.see('powder')
      },
      stored: async (wiki) => [
        (await wiki.page('tea'))!.includes('matcha'),
        (await wiki.page('tea'))!.includes('Assam'),
      ],
      expected: [true, true],
    },
    {
      title: 'creates a page, and opens another from the sitemap',
      by: 'live view',
      async use(driver, wiki) {
        await loginToWiki(driver, wiki, 'yak')
        await driver.open(wikiAt(wiki, 'id=yak'))
        await driver.click('li.create a')
        await driver.fill('#wiki__text', '====== Yaks ======\nHairy ones.')
        await driver.click('#edbtn__save')
        await driver.see('Hairy ones')
        await driver.click('li.index a, a.index')
        await driver.click('#index__tree a[title=tea]')
        await driver.see('Sencha')
      },
      stored: (wiki) => wiki.page('yak'),
      expected: '====== Yaks ======\nHairy ones.',
    },
    {
      title: 'uploads two files, and deletes one',
      by: 'mixed',
      async use(driver, wiki) {
        await loginToWiki(driver, wiki, 'tea')
        for (const file of ['leaf.png', 'stem.png']) {
          await driver.open(wikiAt(wiki, 'id=tea&do=media&tab_files=upload&ns='))
          await driver.upload('input[type=file]', file)
          await driver.click('button "Upload"')
          await driver.read('.qq-upload-success')
        }
        await driver.open(wikiAt(wiki, 'id=tea&do=media&ns='))
        await driver.click('link "stem.png"')
        await driver.accept(() => driver.click('button "Delete"'))
        await driver.see('has been deleted')
      },
      stored: async (wiki) => [
        (await wiki.media('leaf.png')) !== undefined,
        (await wiki.media('stem.png')) === undefined,
      ],
      expected: [true, true],
    },
    {
      title: 'adds a user, and changes settings',
      by: 'mixed',
      async use(driver, wiki) {
        await loginToWiki(driver, wiki)
        await driver.open(wikiAt(wiki, 'id=start&do=admin&page=usermanager'))
        await driver.fill('#add_userid', 'bob')
        await driver.fill('#add_userpass', 'tr0mbone')
        await driver.fill('#add_userpass2', 'tr0mbone')
        await driver.fill('#add_username', 'Bob Example')
        await driver.fill('#add_usermail', 'bob@example.com')
        await driver.click('button "Add"')
        await driver.see('User added successfully')
        await driver.open(wikiAt(wiki, 'id=start&do=admin&page=config'))
        await driver.fill('#config___title', 'Tea Wiki')
        await driver.choose('#config___useheading', 'Always')
        await driver.check('#config___youarehere')
        await driver.click('button "Save"')
        await driver.see('Settings updated successfully')
      },
      stored: (wiki) => wiki.settings(),
      expected: expect.stringMatching(/title'\] = 'Tea Wiki'[^]*youarehere'\] = 1[^]*bob:/),
    },
  ],
} satisfies Subject<Wiki>
