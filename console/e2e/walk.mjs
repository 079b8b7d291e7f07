// Walks through every page and action of the console in headless Chromium. Environment: CONSOLE_URL, CONSOLE_KEY, CONSOLE_CHROMIUM,
// CONSOLE_OUT (a folder for screenshots). It ends with an error at the first thing that is not as it should be.
import { chromium } from "playwright-core";
import { readFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { CONSOLE_URL: site, CONSOLE_KEY: key, CONSOLE_CHROMIUM: executablePath, CONSOLE_OUT: out } = process.env;
const origin = new URL(site).origin;
const inCold = "/t/demo"; // of the tenant that is looked at
mkdirSync(out, { recursive: true });

const profile = mkdtempSync(path.join(tmpdir(), "console-e2e-"));
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args, viewport: { width: 1280, height: 860 }, bypassCSP: false });
const page = context.pages()[0] ?? (await context.newPage());
page.setDefaultTimeout(20_000);

const foreign = [];
const dialogs = [];
const problems = [];
const unfit = []; // what axe has found
function watch(p) {
  p.on("request", (r) => { if (!r.url().startsWith(origin + "/") && !r.url().startsWith("data:") && r.url() !== "about:blank") foreign.push(r.url()); });
  p.on("dialog", (d) => { dialogs.push(d.message()); d.dismiss(); });
  p.on("pageerror", (e) => problems.push(String(e)));
  p.on("console", (m) => { if (m.type() === "error" && !/status of (401|403|404)/.test(m.text())) problems.push(m.text()); });
}
watch(page);

// Pages tell what they offer, and what of it was done: forms and links by where they stand and lead. What the header has on each page counts once.
const offered = new Map(); // by name: the latest addresses that offer it
const used = new Set();
await context.exposeFunction("walkOffers", (names, at) => {
  for (const n of names) offered.set(n, [at, ...(offered.get(n) ?? []).filter((x) => x !== at)].slice(0, 4));
});
await context.exposeFunction("walkUses", (name) => used.add(name));
await context.addInitScript(() => {
  const place = (u) => new URL(u, location.href).pathname.replace(/^.*\/console\//, "").replace(/^(t|connectors)\/[^/]+/, "$1/*") || "overview";
  globalThis.walkName = (e) => {
    const from = e.closest("header") ? "header" : place(location.href);
    if (e.tagName.toLowerCase() === "form") {
      const fields = [...e.elements].filter((x) => x.name && x.type !== "hidden").map((x) => x.name);
      return `${from}: ${e.method} ${place(e.action)} (${[...new Set(fields)].sort()})`;
    }
    const to = new URL(e.getAttribute("href"), location.href);
    if (e.getAttribute("href").startsWith("#")) return `${from}: link to #${to.hash.slice(1).replace(/\d+$/, "*")}`;
    return `${from}: link to ${place(to)} ${e.getAttribute("rel") ?? ""}(${[...new Set(to.searchParams.keys())].sort()})`;
  };
  const all = () => [...document.querySelectorAll("form, a[href]")];
  addEventListener("DOMContentLoaded", () => globalThis.walkOffers([...new Set(all().map(globalThis.walkName))], location.href));
  addEventListener("submit", (e) => globalThis.walkUses(globalThis.walkName(e.target)), true);
  addEventListener("click", (e) => { const a = e.target.closest?.("a[href]"); if (a) globalThis.walkUses(globalThis.walkName(a)); }, true);
});

// sweep follows, by keyboard, a link of each kind that was offered and not yet followed.
async function sweep() {
  const lost = new Set();
  for (let next; (next = [...offered.keys()].find((n) => n.includes(": link to ") && !used.has(n) && !lost.has(n))); ) {
    let found = false;
    for (const at of offered.get(next)) {
      await page.goto(at);
      const link = (await page.evaluateHandle((name) => {
        for (const d of document.querySelectorAll("details")) d.open = true;
        return [...document.querySelectorAll("a[href]")].find((a) => globalThis.walkName(a) === name) ?? null;
      }, next)).asElement();
      if (!link) continue;
      found = true;
      const near = next.includes("link to #");
      await link.focus();
      if (near) {
        await page.keyboard.press("Enter");
      } else {
        const [answer] = await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("Enter")]);
        assert.equal(answer?.status() ?? 200, 200, `${next} from ${at}`); // null: to a place on the same page
      }
      for (let i = 0; i < 50 && !used.has(next); i++) await page.waitForTimeout(10);
      assert.ok(used.has(next), `${next} could not be followed from ${at}`);
      break;
    }
    if (!found) lost.add(next);
  }
  return [...lost];
}

let clicks = 0;
const click = async (locator) => { clicks++; await locator.click(); await page.waitForLoadState("domcontentloaded"); };
const link = (name, exact = true) => page.getByRole("link", { name, exact });
const button = (name, exact = true) => page.getByRole("button", { name, exact });

// picture keeps what a page looks like. A browser on a busy machine fails at this now and then.
async function picture(p, name, fullPage) {
  const file = path.join(out, `${name}.png`);
  for (let tries = 3; ; tries--) {
    try {
      return await p.screenshot({ path: file, fullPage });
    } catch (e) {
      if (tries === 1 || !`${e}`.includes("Unable to capture screenshot")) throw e;
      await p.waitForTimeout(500);
    }
  }
}

// axe judges a page in both colour schemes.
async function judge(name, p = page) {
  for (const colorScheme of ["light", "dark"]) {
    await p.emulateMedia({ colorScheme });
    await p.evaluate(axeSource); // through the debugger, which the policy of the page does not bind
    const { violations } = await p.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const v of violations) unfit.push(`${name} (${colorScheme}): ${v.id}: ${v.nodes.map((n) => n.html + " " + n.any.map((a) => a.message).join()).slice(0, 3).join(" | ")}`);
    await picture(p, `${name}-${colorScheme}`, true);
  }
  await p.emulateMedia({ colorScheme: "light" });
  const bytes = (await p.content()).length;
  assert.ok(bytes < 100_000, `${name} has ${bytes} bytes`);
  console.log(`${name}: ${bytes} bytes`);
}
const open = async (at) => { const res = await page.goto(site + at); assert.equal(res.status(), 200, at); };
const sees = async (text) => assert.ok((await page.locator("main").innerText()).includes(text), `"${text}" is not on ${page.url()}`);
const done = async (text) => assert.equal((await page.locator("p.notice[role=status]").first().innerText()).trim(), text);

try {
  // Sign in, by keyboard alone.
  await page.goto(site);
  assert.ok(page.url().endsWith("/console/login"), page.url());
  await judge("login");
  await page.keyboard.type("sk_live_wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await judge("login-refused");
  await page.locator("#key").fill(key);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const cookie = (await context.cookies()).find((c) => c.name === "contextmem_console");
  assert.ok(cookie.httpOnly && cookie.sameSite === "Strict");
  await judge("overview");

  // Why is this hit first? At most three clicks from the overview.
  clicks = 0;
  await click(link("Recall in demo"));
  await page.locator("#q").fill("When does the bakery open?");
  await click(button("Ask"));
  const first = page.locator("article.hit").first();
  assert.ok(await first.locator("details.why table").isVisible(), "the parts of the first hit's score");
  assert.ok((await first.locator("details.why tr").count()) >= 1);
  assert.ok(clicks <= 3, `${clicks} clicks`);
  await judge("recall");

  // Why is that one missing?
  await open("");
  clicks = 0;
  await click(link("Recall in demo"));
  await page.locator("#q").fill("When does the bakery open?");
  await page.locator("#max").evaluate((x) => { x.closest("details").open = true; });
  await page.locator("#max").fill("1");
  await page.locator("#missing").fill("suppliers.csv");
  await page.locator("#class").selectOption("knowledge");
  await click(button("Ask"));
  assert.match(await page.locator("#why").innerText(), /Others fit the question better\.|Neither its words/);
  assert.ok(clicks <= 3, `${clicks} clicks`);
  assert.ok((await page.locator("#rejected").count()) === 1, "candidates that were not returned");
  await judge("recall-missing");
  for (const [id, words] of [["nothing.txt", "There is no such item"], ["broken.pdf", "It is not indexed."]]) {
    await open(`${inCold.slice(1)}/recall?q=bakery&class=knowledge&missing=${id}`);
    assert.match(await page.locator("#why").innerText(), new RegExp(words));
  }

  // Since when is this no longer true?
  await open("");
  clicks = 0;
  await click(link("Timeline of demo"));
  await page.locator("#sub").fill("noor");
  await click(button("Show"));
  assert.match(await page.locator("li.old").first().innerText(), /No longer true since \d{4}-\d\d-\d\d\./);
  assert.ok(clicks <= 3, `${clicks} clicks`);
  await judge("timeline");

  // Undo what replaced what: of a memory, on the timeline and on its page, of a fact, and of merged names.
  const before = await page.locator("li.old").count();
  assert.ok(before >= 2);
  await page.locator("li.old").first().getByRole("button", { name: /^Undo/ }).click();
  await done("It holds again.");
  assert.equal(await page.locator("li.old").count(), before - 1);
  await page.locator("li.old .content a").first().click();
  await page.locator("div.alarm blockquote, div.alarm p strong").first().waitFor();
  await judge("item-replaced");
  await page.locator("div.alarm a").click();
  await page.waitForURL(/id=home-2/);
  await page.goBack();
  await button("Undo", false).first().click();
  await done("It holds again.");
  for (const [sub, kind] of [["staff", "knowledge"], ["people", "memory"]]) {
    await open(`${inCold.slice(1)}/timeline?sub=${sub}&class=${kind}`);
    const retired = page.locator("li.superseded");
    const facts = await retired.count();
    assert.ok(facts >= 2, `superseded facts of ${sub}`);
    const text = await retired.first().locator(".content").first().innerText();
    await retired.first().getByRole("button", { name: /^Undo: / }).click();
    await done("It holds again.");
    assert.equal(await retired.count(), facts - 1, "the other facts of the item stay as they are");
    const restored = page.locator("li.current").filter({ has: page.getByText(/^Holds again by hand since/) });
    assert.equal(await restored.locator(".content").first().innerText(), text);
    await judge(`timeline-restored-${kind}`);
    await restored.getByRole("button", { name: /^Take back: / }).click();
    await done("What took its place counts again.");
    assert.equal(await retired.count(), facts);
  }
  await page.locator("#merges + ul button").first().click();
  await done("The two names are apart again.");

  // Recall with the other settings.
  await open(`${inCold.slice(1)}/recall?sub=noor&q=Where+does+Noor+live&class=memory&mode=thinking&superseded=mark&as_of=2026-05-01&known_at=2026-12-01&filter=`);
  await sees("Ran as thinking");
  await judge("recall-thinking");

  // Items: filters, search, an errored one with its reason, try again.
  await open(inCold.slice(1));
  await page.locator("#class").selectOption("knowledge");
  await page.locator("#status").selectOption("errored");
  await button("Search").click();
  await page.locator("p.reason").first().waitFor();
  assert.match(await page.locator("p.reason").first().innerText(), /^E\d{4} /);
  await judge("tenant-errored");
  await button("Try again: broken.pdf").click();
  await done("It is tried again.");
  await open(`${inCold.slice(1)}?class=knowledge&q=sourdough`);
  await sees("handbook.md");
  await judge("tenant");

  await open(`${inCold.slice(1)}/item?class=knowledge&id=broken.pdf`);
  await judge("item-errored");
  await button("Try again", false).click();
  await done("It is tried again.");
  await open(`${inCold.slice(1)}?class=knowledge&q=sourdough`);

  // A long list, to its end and back; a sub-tenant of many by its name.
  await open("t/large?sub=u");
  await sees("1 to 25 of 60");
  for (const places of ["26 to 50 of 60", "51 to 60 of 60"]) {
    await link("Next").click();
    await page.getByText(places).waitFor();
  }
  assert.equal(await link("Next").count(), 0);
  await judge("tenant-end");
  await link("Previous").click();
  await page.getByText("26 to 50 of 60").waitFor();
  await page.locator("#subname").fill("docs");
  await button("Open").click();
  await page.waitForURL(/sub=docs/);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "q", "/ goes to the search");
  await open(inCold.slice(1) + "?class=knowledge&q=sourdough");

  // An item.
  await page.locator("table.items a").first().click();
  await page.getByRole("heading", { name: "Chunks", exact: true }).waitFor();
  await sees("Chunk 1");
  await judge("item");
  await open(`${inCold.slice(1)}/item?sub=noor&class=memory&id=home-2`);
  await judge("item-memory");

  // The graph: expand an entity, see the evidence of a line.
  await open(`${inCold.slice(1)}/graph?sub=noor`);
  await judge("graph");
  await page.locator("#prefix").fill("ma");
  await button("Show").click();
  await sees("marseille");
  await open(`${inCold.slice(1)}/graph?sub=noor`);
  const edge = page.locator("svg.graph a.edge").first();
  await edge.focus();
  await page.keyboard.press("Enter");
  await page.locator("li[id^=fact-] details[open] blockquote").first().waitFor();
  const node = page.locator("svg.graph a:not(.edge)").first();
  await node.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/entity=/);

  // Connectors.
  await open("connectors");
  await judge("connectors");
  await page.locator("#name").fill("House files");
  await page.locator("#tenant").selectOption("demo");
  await page.locator("#into").fill("files");
  await button("Set up").click();
  await done("Made.");
  await button("Add", false).first().click();
  await done("Added.");
  await judge("connector");
  await button("Pause").click();
  await done("Paused.");
  await button("Resume").click();
  await done("Resumed.");
  for (let i = 0; i < 50; i++) { // one that runs already is fine too
    await page.reload();
    if (/Complete syncs\s+[1-9]/.test(await page.locator("dl.tiles").innerText())) break;
    await page.waitForTimeout(100);
  }
  await button("Sync now").click();
  await done("The sync has begun.");
  await sweep();
  await open("connectors");
  await link("House files").click();
  await page.locator("details.danger summary").click();
  await button("Delete the connector").click();
  await done("Deleted.");

  // Webhooks.
  await open("webhooks");
  await judge("webhooks-empty");
  await page.locator("#url").fill(process.env.CONSOLE_HOOK);
  await button("Save").click();
  await done("Saved.");
  assert.ok((await page.locator(".once code").innerText()).length > 20, "the secret is shown once");
  await page.reload();
  assert.equal(await page.locator(".once").count(), 0, "and not again");
  await button("Send a test").click();
  await done("The receiver took the test.");
  const bad = await context.request.post(process.env.CONSOLE_MAKE); // an item ends, the receiver refuses its event once
  assert.equal(bad.status(), 204);
  await open("webhooks");
  await page.locator("#status").selectOption("failed");
  for (let i = 0; i < 100; i++) {
    await button("Show").click();
    if (await page.getByRole("button", { name: /^Send again: / }).count()) break;
    await page.waitForTimeout(100);
  }
  await page.getByRole("button", { name: /^Send again: / }).first().click(); // before the schedule does it, after five seconds
  await done("It is sent again.");
  await judge("webhooks");
  for (let i = 0; i < 100; i++) {
    await open("webhooks?status=delivered");
    if (await link("Next").count()) break;
    await page.waitForTimeout(100);
  }
  assert.equal(await page.locator("tbody tr").count(), 25, "events were delivered");
  await link("Next").click();
  assert.ok(await page.locator("tbody tr").count(), "and more of them");
  await button("Remove").click();
  await done("Deleted.");

  // Keys: make one that is shown once, set its end, revoke it.
  await open("keys");
  await page.locator("#owner").fill("robot");
  await page.locator("#tenants").fill("demo");
  await button("Make the key").click();
  await done("Made.");
  const made = await page.locator("#newkey").innerText();
  assert.match(made, /^sk_live_[0-9a-f]{32}\./);
  await judge("keys");
  await page.reload();
  assert.ok(!(await page.content()).includes(made), "the key is shown once");
  const row = page.getByRole("row", { name: /robot/ });
  await row.getByRole("button", { name: "Set end" }).click();
  await done("The end of the key is set.");

  // That key sees its tenant alone. Reading needs no JavaScript.
  const reader = await chromium.launch({ executablePath, headless: true, args });
  const plain = await reader.newContext({ javaScriptEnabled: false });
  const other = await plain.newPage();
  watch(other);
  await other.goto(site);
  await other.locator("#key").fill(made);
  await other.locator("button.main").click();
  assert.ok(!(await other.content()).includes("private"), "another tenant");
  assert.equal(await other.getByRole("link", { name: "Keys" }).count(), 0);
  await other.getByRole("link", { name: "Recall in demo" }).click();
  await other.locator("#q").fill("bakery");
  await other.getByRole("button", { name: "Ask" }).click();
  assert.ok((await other.locator("article.hit").count()) > 0);
  assert.equal((await other.goto(site + "keys")).status(), 403);
  assert.equal((await other.goto(site + "t/private")).status(), 403);
  await picture(other, "forbidden", false);
  await reader.close();

  await row.getByRole("button", { name: "Revoke robot" }).click();
  await done("The key is revoked.");
  assert.equal(await page.getByRole("row", { name: /robot/ }).count(), 0);

  // Backup and verify.
  await open("system");
  await button("Back up now").click();
  await done("It has begun.");
  await page.getByText(/^Done: \d+ tenants copied/).waitFor();
  await button("Verify now").click();
  await page.getByText(/^Nothing is damaged:/).waitFor();
  await judge("system");

  // Hostile content is text.
  await open(`${inCold.slice(1)}/item?class=knowledge&sub=evil&id=evil.md`);
  await sees("<script>alert(1)</script>");
  await judge("hostile");

  // What is more than a page: chunks, entities. A hit that somebody thought was missing.
  await open("t/large/item?sub=docs&class=knowledge&id=long.md");
  await judge("item-long");
  await open("t/large/graph?sub=docs&class=knowledge");
  await judge("graph-large");
  await open(`${inCold.slice(1)}/recall?q=bakery&class=knowledge&missing=handbook.md`);
  await sweep();
  const lost = await page.goto(site + "nowhere");
  assert.equal(lost.status(), 404);
  await judge("not-found");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main", "the first stop of the keyboard leads to the content");
  await page.locator("main a").click();
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await button("Sign out").click();
  await page.locator("#key").waitFor();
  await page.goto(site + "keys");
  assert.ok(page.url().includes("/login"));
  assert.deepEqual([...offered.keys()].filter((n) => !used.has(n)), [], "what pages offered and the walk did not do");
  console.log(`did ${used.size} things:\n${[...used].sort().join("\n")}`);

  // On a narrow screen.
  await page.setViewportSize({ width: 390, height: 800 });
  await page.locator("#key").fill(key);
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => !u.pathname.endsWith("/login"));
  await page.goto(`${site}${inCold.slice(1)}/recall?q=When+does+the+bakery+open`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert.ok(!wide, "the page scrolls sideways");
  await judge("narrow");

  assert.deepEqual(unfit, [], "violations that axe has found");
  assert.deepEqual(foreign, [], "requests to other origins");
  assert.deepEqual(dialogs, [], "scripts ran");
  assert.deepEqual(problems, [], "errors in the browser");
  console.log("ok");
} catch (e) {
  await page.screenshot({ path: path.join(out, "failure.png"), fullPage: true }).catch(() => {});
  console.error(`at ${page.url()}\n${unfit.join("\n")}`);
  throw e;
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
