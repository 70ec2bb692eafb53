/** Sample values that several operations share. */
const session = { session_id: 'ses_4cWm8rXbQ1kT9vZs' }

export const samples = {
  session,
  sessionFile: { ...session, name: 'report.pdf' },
  approval: { ...session, approval_id: 'apr_Rk2vXe7uBn4sTq9L' },
  handoff: { ...session, handoff_id: 'hnd_Xw4nQe7sKu2tVb9M' },
  provision: { provision_id: 'prv_9vRk3dLtXw7bMq1Z' },
  credential: { name: 'shop' },
  profile: { profile_id: '5f0c8a4e-3b52-4d1b-9c7a-2f6e1d0b8a93' },
  shell: { session_id: 'sh_7pLd2nHyV5eKq0Ru' },
  exec: { exec_id: 'ex_Qm5sUoE8iPa2hGk4' },
  artifact: { artifact_id: 'art_Yc6nBv0sKe8uWj2F' },
  relay: { id: 'laptop' },
  crawl: { id: 'crl_b3TgJ6wYx9Nf1CzA' },
  /** Crawl ID of the API compatible with Firecrawl v2. */
  crawlV2: { id: '6f1a0d5c-2b9e-4c37-8d41-90e7b3a5f218' },
  listed: { urls: ['https://example.com', 'https://example.org'], formats: ['markdown' as const] },
  extracted: {
    urls: ['https://example.com'],
    schema: { type: 'object', properties: { title: { type: 'string' } } },
  },
}
