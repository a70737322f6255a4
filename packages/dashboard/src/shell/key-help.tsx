import { Dialog } from '../ui/dialog';
import { allBindings } from './keys';
import { shownKeys } from './palette';
import { PLACES } from './places';

export function KeyHelp({ onClose }: { onClose(): void }) {
  const places = PLACES.map(({ key, label }) => ({ keys: `G ${key.toUpperCase()}`, label }));
  const known = new Set(places.map(({ keys }) => keys.toLowerCase()));
  const seen = new Set<string>();
  const here = allBindings().filter(({ keys }) => !known.has(keys) && !seen.has(keys) && seen.add(keys));
  return (
    <Dialog title="Keys" onClose={onClose} className="key-help">
      <div className="columns">
        <section>
          <h3>Here</h3>
          <dl className="facts">
            {here.map(({ keys, label }) => [
              <dt key={`${keys}-key`}>
                <kbd>{shownKeys(keys)}</kbd>
              </dt>,
              <dd key={keys}>{label}</dd>,
            ])}
          </dl>
        </section>
        <section>
          <h3>Go to</h3>
          <dl className="facts">
            {places.map(({ keys, label }) => [
              <dt key={`${keys}-key`}>
                <kbd>{keys}</kbd>
              </dt>,
              <dd key={keys}>{label}</dd>,
            ])}
          </dl>
        </section>
      </div>
      <p className="dim">Single keys are off in fields; Settings can switch them off altogether.</p>
    </Dialog>
  );
}
