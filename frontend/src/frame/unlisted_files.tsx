import type { NamedFile, OtherFile } from "../api/types";
import { formatCount, formatCounted } from "../format/number";
import { otherGroups } from "../model/other_files";
import { reportGroups } from "../model/reports";

/** Of one kind. */
const FILES_NAMED = 3;

/** Reports of other tools: what they are, and what makes profiles of them. */
export const Reports = ({ reports }: { reports: readonly NamedFile[] }) => (
  <>
    {reportGroups(reports).map(({ what, files, advice, command }) => (
      <p key={what}>
        <strong>{files.slice(0, FILES_NAMED).join(", ")}</strong>
        {files.length > FILES_NAMED && ` and ${formatCount(files.length - FILES_NAMED)} more`}: {what}. {advice}{" "}
        {command !== "" && (
          <>
            <code>{command}</code>.
          </>
        )}
      </p>
    ))}
  </>
);

export const otherFilesTitle = (count: number): string =>
  formatCounted(count, "file that is no profile", "files that are no profiles");

/** Files that are none: each reason once, with its files by folder. */
export const OtherFiles = ({ files }: { files: readonly OtherFile[] }) => (
  <>
    {otherGroups(files).map(({ reason, count, folders }) => {
      const lines = folders.map(({ folder, names }) =>
        names.length === 1 ? (
          `${folder}${names[0] ?? ""}`
        ) : (
          <span data-tip={names.join("\n")}>
            {folder === "" ? "" : `${folder.slice(0, -1)}: `}
            {formatCounted(names.length, "file")}
          </span>
        ),
      );
      return count === 1 ? (
        <p key={reason}>
          {lines[0]} {reason}
        </p>
      ) : (
        <div key={reason}>
          <p>
            Each of {formatCount(count)} files {reason}
          </p>
          <ul>
            {lines.map((line, i) => (
              <li key={i}>{line}</li>
            ))}
          </ul>
        </div>
      );
    })}
  </>
);
