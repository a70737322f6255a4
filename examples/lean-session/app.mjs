// node examples/lean-session/app.mjs [claude|codex|gemini|copilot|opencode] ["what the agent shall do"]
import { createAgentSession } from '@mcpbridge/agent-session';

const stock = { apple: 5, pear: 0 };
const properties = { fruit: { type: 'string' }, count: { type: 'integer', minimum: 1 } };
const session = await createAgentSession({
  instructions: 'You keep the stock of a fruit shop. Count before you sell.',
  tools: [
    {
      name: 'count_fruit',
      description: 'How many of a fruit are in stock',
      inputSchema: { type: 'object', properties, required: ['fruit'] },
      handler: ({ fruit }) => ({ fruit, count: stock[fruit] ?? 0 }),
    },
    {
      name: 'sell_fruit',
      description: 'Takes fruit out of the stock; answers what is left',
      inputSchema: { type: 'object', properties, required: ['fruit', 'count'] },
      handler({ fruit, count }) {
        if (!(stock[fruit] >= count)) throw new Error(`There are not so many of ${fruit}.`);
        stock[fruit] -= count;
        return `${stock[fruit]} left`;
      },
    },
  ],
});

const [client = 'claude', prompt = 'Sell two apples and tell me how many are left.'] = process.argv.slice(2);
const run = session.launch(client, { prompt });
for await (const event of run) {
  if (event.type === 'tool_call') console.log('→', event.tool, JSON.stringify(event.args));
  if (event.type === 'tool_result') console.log('←', event.text);
}
console.log(await run.result.then(({ text }) => text, String));
await session.close();
