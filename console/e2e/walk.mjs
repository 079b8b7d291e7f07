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

let clicks = 0;
const click = async (locator) => { clicks++; await locator.click(); await page.waitForLoadState("domcontentloaded"); };
const link = (name, exact = true) => page.getByRole("link", { name, exact });
const button = (name, exact = true) => page.getByRole("button", { name, exact });

// axe judges a page in both colour schemes.
async function judge(name, p = page) {
  for (const colorScheme of ["light", "dark"]) {
    await p.emulateMedia({ colorScheme });
    await p.evaluate(axeSource); // through the debugger, which the policy of the page does not bind
    const { violations } = await p.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const v of violations) unfit.push(`${name} (${colorScheme}): ${v.id}: ${v.nodes.map((n) => n.html + " " + n.any.map((a) => a.message).join()).slice(0, 3).join(" | ")}`);
    await p.screenshot({ path: path.join(out, `${name}-${colorScheme}.png`), fullPage: true });
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

  // Undo what replaced what.
  const before = await page.locator("li.old").count();
  await button("Undo", false).first().click();
  await done("It holds again.");
  assert.equal(await page.locator("li.old").count(), before - 1);

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
  for (let i = 0; i < 100; i++) {
    await open("webhooks?status=failed");
    if (await page.getByRole("button", { name: /^Send again: / }).count()) break;
    await page.waitForTimeout(100);
  }
  await judge("webhooks");
  await page.getByRole("button", { name: /^Send again: / }).first().click();
  await done("It is sent again.");
  for (let i = 0; i < 100; i++) {
    await open("webhooks?status=delivered");
    if (await page.locator("tbody tr").count()) break;
    await page.waitForTimeout(100);
  }
  assert.ok(await page.locator("tbody tr").count(), "the event was delivered");
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
  await other.screenshot({ path: path.join(out, "forbidden.png") });
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

  const lost = await page.goto(site + "nowhere");
  assert.equal(lost.status(), 404);
  await judge("not-found");
  await open("");
  await button("Sign out").click();
  await page.locator("#key").waitFor();
  await page.goto(site + "keys");
  assert.ok(page.url().includes("/login"));

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
