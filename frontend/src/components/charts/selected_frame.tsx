interface SelectedFrameProps {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Around the selected box of a picture: dark with a light line within, which stand out on any colour of a box. Drawn after all boxes. */
export function SelectedFrame({ x, y, width, height }: SelectedFrameProps) {
  const within = (by: number) => ({
    x: x + by,
    y: y + by,
    width: Math.max(width - 2 * by, 1),
    height: Math.max(height - 2 * by, 1),
  });
  return (
    <g class="selected-frame">
      <rect {...within(1)} />
      <rect class="inner" {...within(2.5)} />
    </g>
  );
}
