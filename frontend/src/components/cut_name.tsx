/** Of a file's name that is cut: its end, where files of one run differ. */
const LETTERS_OF_END = 26;

/** The name of a file, which is cut before its end where there is no room for all of it. */
export const CutName = ({ name }: { name: string }) => (
  <>
    <span class="clip">{name.slice(0, -LETTERS_OF_END)}</span>
    <span>{name.slice(-LETTERS_OF_END)}</span>
  </>
);
