import type { StrategyName } from '@mcpbridge/shared/conversation.js';

export interface Route {
  strategy: StrategyName;
  /** For people: why this one. */
  because: string;
}

interface Rule {
  strategy: StrategyName;
  because: string;
  fits(question: string): boolean;
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

/** Read from top to bottom; the first that fits decides. */
const RULES: readonly Rule[] = [
  {
    strategy: 'plan',
    because: 'the question asks for a plan',
    fits: (question) =>
      /\b(make|write|draw up|follow|work out) a plan\b|\bplan and (execute|carry out)\b/i.test(question),
  },
  {
    strategy: 'plan',
    because: 'the question lists three steps or more',
    fits: (question) => count(question, /^\s*(\d+[.)]|[-*•])\s+\S/gm) >= 3,
  },
  {
    strategy: 'plan',
    because: 'the question says what comes after what, more than once',
    fits: (question) =>
      count(question, /\b(first|then|next|after that|afterwards|finally|lastly|once that is done)\b/gi) >= 3,
  },
  {
    strategy: 'parallel',
    because: 'the question asks for several things that do not need each other',
    fits: (question) =>
      /\b(compare|both|each of|every one of|respectively|at the same time|in parallel)\b/i.test(question) ||
      count(question, /,/g) + count(question, /\band\b/gi) >= 2,
  },
];

/** Which strategy a question gets where neither the person nor the mission says one. */
export function routeOf(question: string): Route {
  const rule = RULES.find(({ fits }) => fits(question));
  if (!rule) return { strategy: 'react', because: 'the question asks for one thing' };
  return { strategy: rule.strategy, because: rule.because };
}
