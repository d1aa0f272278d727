/** Brings the tables of changes into view. */
export const showTable = (): void =>
  document.querySelector(".compare-tabs")?.scrollIntoView({ block: "start", behavior: "smooth" });
