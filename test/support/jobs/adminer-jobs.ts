/** Jobs of a person or an agent on Adminer. */
import { type Adminer, startAdminer } from '../adminer.ts'
import { type Subject, teas } from '../application-jobs.ts'
import type { Driver } from '../session-drivers.ts'
import { sqlite } from '../stored.ts'

async function startFilledAdminer(): Promise<Adminer> {
  const adminer = await startAdminer()
  await sqlite(adminer.database, teas)
  return adminer
}

async function loginToAdminer(driver: Driver, adminer: Adminer): Promise<void> {
  await driver.open(adminer.url)
  await driver.choose('select[name="auth[driver]"]', 'SQLite 3')
  await driver.fill('#username', adminer.user)
  await driver.fill('[name="auth[password]"]', adminer.password)
  await driver.fill('[name="auth[db]"]', adminer.database)
  await driver.click('button "Login"')
  await driver.see('Tables and views')
}

export const adminer = {
  name: 'Adminer',
  start: startFilledAdminer,
  jobs: [
    {
      title: 'creates a table',
      by: 'cli',
      usual: true,
      async use(driver, adminer) {
        await loginToAdminer(driver, adminer)
        await driver.click('link "Create table"')
        await driver.fill('[name=name]', 'cups')
        await driver.fill('[name="fields[1][field]"]', 'id')
        await driver.check('input[name=auto_increment_col] >> nth=1')
        await driver.click('input[name="add[1]"]')
        await driver.fill('[name="fields[1.1][field]"]', 'colour')
        await driver.choose('[name="fields[1.1][type]"]', 'text')
        await driver.check('[name="fields[1.1][null]"]')
        await driver.click('button "Save"')
        await driver.see('Table has been created')
      },
      stored: ({ database }) => sqlite(database, `select name, type, "notnull", pk from pragma_table_info('cups')`),
      expected: [
        ['id', 'INTEGER', 1, 1],
        ['colour', 'TEXT', 0, 0],
      ],
    },
    {
      title: 'inserts a row, finds it and changes it',
      by: 'mcp',
      async use(driver, adminer) {
        await loginToAdminer(driver, adminer)
        await driver.click('link "teas"')
        await driver.click('link "New item"')
        await driver.fill('[name="fields[id]"]', '7')
        await driver.fill('[name="fields[name]"]', 'Lapsang "smoked"')
        await driver.fill('[name="fields[price]"]', '12')
        await driver.click('button "Save"')
        await driver.see('has been inserted')
        await driver.click('link "Search"')
        await driver.choose('[name="where[0][col]"]', 'name')
        await driver.choose('[name="where[0][op]"]', 'LIKE %%')
        await driver.fill('[name="where[0][val]"]', 'smoked')
        await driver.click('button "Select"')
        await driver.see('1 row')
        await driver.click('link "edit"')
        await driver.fill('[name="fields[price]"]', '13')
        await driver.click('button "Save"')
        await driver.see('Item has been updated')
      },
      stored: ({ database }) => sqlite(database, 'select id, name, price from teas where id < 100'),
      expected: [[7, 'Lapsang "smoked"', 13]],
    },
    {
      title: 'adds a column, and clones a row',
      by: 'live view',
      async use(driver, adminer) {
        await loginToAdminer(driver, adminer)
        await driver.click('link "teas"')
        await driver.click('link "Alter table"')
        await driver.click('input[name="add[2]"]')
        await driver.fill('[name="fields[2.1][field]"]', 'origin')
        await driver.choose('[name="fields[2.1][type]"]', 'text')
        await driver.check('[name="fields[2.1][null]"]')
        await driver.click('button "Save"')
        await driver.see('Table has been altered')
        await driver.click('link "Select data"')
        await driver.check('input[name="check[]"] >> nth=1')
        await driver.click('button "Clone"')
        await driver.fill('[name="fields[id]"]', '7')
        await driver.click('button "Save"')
        await driver.see('has been inserted')
      },
      stored: ({ database }) => sqlite(database, 'select id, name, origin, price from teas where id < 100'),
      expected: [[7, 'Tea 2', null, 1]],
    },
    {
      title: 'imports a file, and deletes rows',
      by: 'mixed',
      async use(driver, adminer) {
        await loginToAdminer(driver, adminer)
        await driver.click('link "Import"')
        await driver.upload('input[type=file]', 'rows.sql')
        await driver.click('button "Execute"')
        await driver.see('2 queries executed OK')
        await driver.click('link "select"')
        for (const row of [0, 2]) await driver.check(`input[name="check[]"] >> nth=${row}`)
        await driver.accept(() => driver.click('input[name=delete]'))
        await driver.see('2 items have been affected')
      },
      stored: ({ database }) => sqlite(database, 'select id from teas where id < 104'),
      expected: [[71], [101], [102], [103]],
    },
    {
      title: 'loads more rows, and drops a table',
      by: 'mixed',
      async use(driver, adminer) {
        await loginToAdminer(driver, adminer)
        await driver.click('link "select"')
        await driver.fill('[name=limit]', '20')
        await driver.click('button "Select"')
        await driver.click('link "Load more data"')
        await driver.see('Tea 35')
        await driver.open(`${adminer.url}?sqlite=&username=anna&db=${encodeURIComponent(adminer.database)}`)
        await driver.check('input[name="tables[]"]')
        await driver.accept(() => driver.click('input[name=drop]'))
        await driver.see('Tables have been dropped')
      },
      stored: ({ database }) => sqlite(database, `select name from sqlite_master where type = 'table'`),
      expected: [],
    },
  ],
} satisfies Subject<Adminer>
