import { expect, it } from "vitest";

import { tableQuery } from "./client";

it("asks for a page with filters and links, and leaves out what is empty", () => {
  const query = tableQuery({
    profile: "id",
    table: "ops",
    aggregation: null,
    domain: "a b",
    offset: 25,
    limit: 25,
    sort: "-calls",
    search: "",
    where: { gpu_time_ns: ">1ms", name: "" },
    links: { op: "A&B" },
  });
  expect(query).toBe(
    "profile=id&domain=a+b&table=ops&sort=-calls&where.gpu_time_ns=%3E1ms&op=A%26B&offset=25&limit=25",
  );
});
