import { type Piece, pieces } from './inert';

/** Words of a tool or a server: never markup, never able to reorder what stands around them, nothing hidden. */
export function InertText({ text }: { text: string }) {
  return <bdi className="foreign">{pieces(text).map(shown)}</bdi>;
}

function shown(piece: Piece, index: number) {
  if (typeof piece === 'string') return piece;
  return (
    <span className="mark" key={index}>
      {piece.mark}
    </span>
  );
}
