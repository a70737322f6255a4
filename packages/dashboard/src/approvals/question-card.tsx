import { useState } from 'react';
import { InertText } from '../text/inert-text';
import type { CardProps } from './approval-card';
import { CardFrame } from './card-frame';
import { useDecide, useLock } from './use-decide';

/** An agent asks: words are the answer. */
export function QuestionCard({ card, onDismiss }: CardProps) {
  const { proposal, ended, since } = card;
  const [words, setWords] = useState('');
  const isFresh = useLock(since + 500);
  const { decide, fault, isBlocked } = useDecide(proposal.id);
  const { question, options } = proposal.arguments;
  const choices = Array.isArray(options) ? options.map(String) : [];
  const isOff = isBlocked || isFresh;
  const answer = (note: string) => void decide({ accept: true, note });
  return (
    <CardFrame
      card={card}
      onDismiss={onDismiss}
      title="A question"
      tags={<span className="tag run">question</span>}
    >
      <pre className="question">
        <InertText text={String(question ?? '')} />
      </pre>
      {ended ? null : (
        <div className="stack">
          {choices.length > 0 ? (
            <div className="row wrap" role="group" aria-label="Answers to choose from">
              {choices.map((choice) => (
                <button
                  type="button"
                  className="button"
                  key={choice}
                  disabled={isOff}
                  onClick={() => answer(choice)}
                >
                  <InertText text={choice} />
                </button>
              ))}
            </div>
          ) : null}
          <form
            className="row wrap"
            onSubmit={(event) => {
              event.preventDefault();
              if (words.trim() !== '') answer(words);
            }}
          >
            <input
              className="field grow"
              aria-label="Your answer"
              placeholder="Your answer"
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
            <button type="submit" className="button primary" disabled={isOff || words.trim() === ''}>
              Answer
            </button>
            <button
              type="button"
              className="button"
              disabled={isOff}
              onClick={() => void decide({ accept: false })}
            >
              Do not answer
            </button>
          </form>
        </div>
      )}
      {fault && !ended ? (
        <p className="note err" role="alert">
          {fault}
        </p>
      ) : null}
    </CardFrame>
  );
}
