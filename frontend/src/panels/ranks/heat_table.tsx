/** The cells of a heat map as a table. */
import { UNKNOWN } from "../../format/number";
import { besideLargest } from "../../model/ranks";
import { RankLink } from "./rank_link";
import { ShownPart, type Shown } from "./shown_part";

const MOST_TABLE = 200;

export function HeatTable({ job, cells, values, rows, count, largest }: Shown) {
  const columns = Math.min(cells.columns, 30);
  return (
    <div class="rank-table-frame">
      <ShownPart job={job} cells={cells} rows={rows} count={count} />
      <table class="plain-table rank-table">
        <thead>
          <tr>
            <th scope="col">Rank</th>
            {Array.from({ length: columns }, (_, column) => (
              <th scope="col" key={column} class="number">
                {column === 0 && "iteration "}
                {job.iterations_by_number.iteration[cells.first + column * cells.iterations]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_TABLE).map((row) => (
            <tr key={row}>
              <th scope="row">
                <RankLink job={job} rank={job.ranks.rank[row * cells.ranks] ?? 0} />
              </th>
              {Array.from({ length: columns }, (_, column) => {
                const value = values[row * cells.columns + column] ?? NaN;
                const { text, isNoise } = besideLargest(value, largest);
                return (
                  <td key={column} class={isNoise ? "number muted" : "number"}>
                    {Number.isNaN(value) ? UNKNOWN : text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {(rows.length > MOST_TABLE || cells.columns > columns) && (
        <p class="muted note-below">
          {Math.min(rows.length, MOST_TABLE)} of {rows.length} rows and {columns} of {cells.columns} iterations; dlprof
          distributed --format json has all.
        </p>
      )}
    </div>
  );
}
