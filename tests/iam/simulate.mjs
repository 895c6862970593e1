// Evaluates IAM requests, one JSON object a line, against identity policies, with AWS's own action data.
// {"policies": [document, ...], "action": "...", "resource": "...", "resourcePolicy": document or null, "account": "...",
//  "context": {...}}
// gives {"allowed": bool, "ignored": [context keys that AWS does not have for this action]} or {"error": ...}.
import { createInterface } from 'node:readline'
import { runSimulation } from '@cloud-copilot/iam-simulate'

for await (const line of createInterface({ input: process.stdin })) {
  const { policies, action, resource, resourcePolicy, account, context } = JSON.parse(line)
  const outcome = await runSimulation(
    {
      identityPolicies: policies.map((policy, index) => ({ name: `policy${index}`, policy })),
      serviceControlPolicies: [],
      resourceControlPolicies: [],
      resourcePolicy: resourcePolicy ?? undefined,
      request: {
        principal: `arn:aws:iam::${account}:role/grantee`,
        action,
        resource: { resource, accountId: account },
        contextVariables: context,
      },
    },
    { simulationMode: 'Strict' },
  )
  const answer =
    outcome.resultType === 'error'
      ? { error: outcome.errors }
      : {
          allowed: outcome.overallResult === 'Allowed',
          ignored: (outcome.results ?? [outcome.result]).flatMap((result) => result.ignoredContextKeys ?? []),
        }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
