/** Of a file's name that is cut: its end, where files of one run differ. */
const LETTERS_OF_END = 26;

/** The name of a file, which is cut before its end where there is no room for all of it. */
export const CutName = ({ name }: { name: string }) => (
  <>
    {/* Empty, it would lift the name from the line of what stands beside it. */}
    {name.length > LETTERS_OF_END && <span class="clip">{name.slice(0, -LETTERS_OF_END)}</span>}
    <span>{name.slice(-LETTERS_OF_END)}</span>
  </>
);
