/** Jobs of a person or an agent on MediaWiki. */
import type { Subject } from '../application-jobs.ts'
import { type PrivateWiki, startMediaWiki } from '../mediawiki.ts'
import type { Driver } from '../session-drivers.ts'
import { sqlite } from '../stored.ts'

async function loginToMediaWiki(driver: Driver, wiki: PrivateWiki): Promise<void> {
  await driver.open(`${wiki.url}?title=Special:UserLogin`)
  await driver.fill('#wpName1', wiki.user)
  await driver.fill('#wpPassword1', wiki.password)
  await driver.click('button "Log in"')
  await driver.see('Log out')
}

export const mediaWiki = {
  name: 'MediaWiki',
  start: () => startMediaWiki({ Teas: 'Green and black teas.\n\n== Green ==\nSencha.\n', Coffee: 'Beans.' }),
  jobs: [
    {
      title: 'creates a page with an uploaded image',
      by: 'cli',
      async use(driver, wiki) {
        await loginToMediaWiki(driver, wiki)
        await driver.open(`${wiki.url}?title=Special:Upload`)
        await driver.upload('#wpUploadFile', 'leaf.png')
        await driver.fill('#wpDestFile', 'Leaf.png')
        await driver.fill('#wpUploadDescription', 'A leaf.')
        await driver.click('input[name=wpUpload]')
        await driver.see('File history')
        await driver.open(`${wiki.url}?title=Zebra&action=edit`)
        await driver.fill('#wpTextbox1', "'''Zebras''' have [[Stripes]]. [[File:Leaf.png]]")
        await driver.fill('#wpSummary', 'a new page')
        await driver.click('button "Save page"')
        await driver.see('have Stripes')
        await driver.read('#firstHeading')
      },
      stored: ({ database }) =>
        sqlite(
          database,
          `select page_title from page where page_title in ('Zebra', 'Leaf.png') union select img_name || img_size from image`,
        ),
      expected: [['Leaf.png'], ['Leaf.png70'], ['Zebra']],
    },
    {
      title: 'renames a page without a redirect',
      by: 'mcp',
      usual: true,
      async use(driver, wiki) {
        await loginToMediaWiki(driver, wiki)
        await driver.open(`${wiki.url}?title=Special:MovePage/Teas`)
        await driver.fill('input[name=wpNewTitleMain]', 'Drinks')
        await driver.fill('input[name=wpReason]', 'more than teas')
        await driver.check('input[name=wpLeaveRedirect]', false)
        await driver.click('button "Move page"')
        await driver.see('has been moved')
        await driver.click('link "Drinks"')
        await driver.read('#firstHeading')
      },
      stored: ({ database }) => sqlite(database, `select page_title from page where page_title in ('Drinks', 'Teas')`),
      expected: [['Drinks']],
    },
    {
      title: 'makes a minor edit of a watched page',
      by: 'live view',
      async use(driver, wiki) {
        await loginToMediaWiki(driver, wiki)
        await driver.open(`${wiki.url}?title=Coffee`)
        await driver.click('link "Edit"')
        await driver.fill('#wpTextbox1', 'Beans, roasted.')
        await driver.check('#wpMinoredit')
        await driver.check('#wpWatchthis')
        await driver.click('button "Save changes"')
        await driver.see('Beans, roasted.')
      },
      stored: ({ database }) =>
        sqlite(
          database,
          `select rev_minor_edit, old_text, (select count(*) from watchlist where wl_title = 'Coffee' and wl_namespace = 0) from revision, text where rev_id = old_id order by rev_id desc limit 1`,
        ),
      expected: [[1, 'Beans, roasted.', 1]],
    },
    {
      title: 'deletes a page, with a reason from a list',
      by: 'mixed',
      async use(driver, wiki) {
        await loginToMediaWiki(driver, wiki)
        await driver.open(`${wiki.url}?title=Coffee`)
        await driver.click('link "Delete"')
        await driver.click('.oo-ui-dropdownWidget-handle')
        await driver.click('option "Vandalism"')
        await driver.fill('#wpReason', 'no coffee')
        await driver.click('button "Delete page"')
        await driver.see('has been deleted')
      },
      stored: ({ database }) =>
        sqlite(
          database,
          `select (select count(*) from page where page_title = 'Coffee'), comment_text from logging join comment on comment_id = log_comment_id where log_type = 'delete'`,
        ),
      expected: [[0, 'Vandalism: no coffee']],
    },
    {
      title: 'changes preferences of several tabs',
      by: 'mixed',
      async use(driver, wiki) {
        await loginToMediaWiki(driver, wiki)
        await driver.open(`${wiki.url}?title=Special:Preferences`)
        await driver.fill('#mw-input-wprealname input', 'Anna Example')
        await driver.click('tab "Editing"')
        await driver.check('#mw-input-wpforceeditsummary input')
        await driver.click('tab "Recent changes"')
        await driver.fill('#mw-input-wprclimit input', '20')
        await driver.click('button "Save"')
        await driver.see('Your preferences have been saved')
      },
      stored: ({ database }) =>
        sqlite(
          database,
          `select user_real_name, up_property, up_value from user, user_properties where user_name = 'Anna' and up_property in ('forceeditsummary', 'rclimit') order by 2`,
        ),
      expected: [
        ['Anna Example', 'forceeditsummary', 1],
        ['Anna Example', 'rclimit', 20],
      ],
    },
  ],
} satisfies Subject<PrivateWiki>
