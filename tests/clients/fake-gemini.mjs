import { openEvents, startModelServer } from './support/model-server.mjs';
import { scriptOf } from './support/script.mjs';

/**
 * A local server that speaks Gemini's streamGenerateContent; each request gets the next turn of the script.
 * @param {import('./support/model-server.mjs').Turn[]} turns
 */
export async function startFakeGemini(turns) {
  const script = scriptOf(turns);
  const answer = (response, request) => {
    const parts = script.take(lastResult(request)).map(toPart);
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };
    const candidates = [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }];
    openEvents(response);
    response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`);
  };
  return { ...(await startModelServer(/:streamGenerateContent$/, answer)), turnsLeft: script.left };
}

const toPart = (step) =>
  step.use ? { functionCall: { name: step.use, args: step.input } } : { text: step.say };

function lastResult(request) {
  const parts = request.contents.flatMap((content) => content.parts);
  return parts.findLast((part) => part.functionResponse)?.functionResponse.response.output ?? '';
}
