/** The head of a small table: a title for each column, with its classes where it is not a text at the left. */

export type PlainTitle = string | readonly [title: string, classes: string];

/** Of numbers, which stand at the right. */
export const atRight = (...titles: string[]): PlainTitle[] => titles.map((title) => [title, "right"]);

export const PlainHead = ({ titles }: { titles: readonly PlainTitle[] }) => (
  <thead>
    <tr>
      {titles.map((cell) => {
        const [title, classes] = typeof cell === "string" ? [cell, undefined] : cell;
        return (
          <th scope="col" key={title} class={classes}>
            {title}
          </th>
        );
      })}
    </tr>
  </thead>
);
