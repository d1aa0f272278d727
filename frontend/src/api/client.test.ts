import { afterEach, expect, it, vi } from "vitest";

import { tableQuery } from "./client";
import { ApiError, get } from "./request";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

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

it("asks again while the server is busy, and not after another error or once nobody waits", async () => {
  vi.useFakeTimers();
  const failure = (code: string) =>
    new Response(JSON.stringify({ error: { code, message: "", hint: "" } }), { status: 503 });
  const answers = [failure("busy"), failure("busy"), new Response("{}"), failure("unreadable"), failure("busy")];
  const fetched = vi.fn(() => Promise.resolve(answers.shift()));
  vi.stubGlobal("fetch", fetched);
  const asked = get("a", new AbortController().signal);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await asked).toEqual({});
  expect(fetched).toHaveBeenCalledTimes(3);
  await expect(get("a", new AbortController().signal)).rejects.toBeInstanceOf(ApiError);
  const abort = new AbortController();
  const left = expect(get("a", abort.signal)).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(10);
  abort.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await left;
  expect(fetched).toHaveBeenCalledTimes(5);
});
