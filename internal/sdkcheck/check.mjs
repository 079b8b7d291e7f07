// Calls every method of the SDK, unchanged but for its base address, and checks what
// it makes of our answers. Arguments: base address, key. Ends with code 0 when all is well.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { HydraDB, HydraDBClient, HydraDBError, buildString } from "@hydradb/sdk";

const [baseUrl, token] = process.argv.slice(2);
const client = new HydraDBClient({ token, baseUrl, maxRetries: 0 });
const tenantId = "acme";
const subTenantId = "team";

const covered = new Set();

// step runs one method and remembers that it was run.
async function step(name, call) {
    covered.add(name);
    try {
        return await call();
    } catch (err) {
        throw new Error(`${name}: ${err.message}`, { cause: err });
    }
}

async function until(what, probe) {
    for (let i = 0; i < 400; i++) {
        const value = await probe();
        if (value) return value;
        await sleep(50);
    }
    throw new Error(`timeout: ${what}`);
}

async function fails(what, status, type, code, call) {
    const err = await call().then(() => undefined, (e) => e);
    assert.ok(err instanceof type, `${what}: ${err?.constructor?.name ?? "no error"}: ${err?.message}`);
    assert.equal(err.statusCode, status, what);
    const seen = err.body?.error?.code ?? err.body?.detail?.error_code ?? err.body?.detail?.errorCode;
    assert.equal(seen, code, `${what}: ${JSON.stringify(err.body)}`);
}

// A webhook receiver; it refuses deliveries while broken is set.
const secret = "0123456789abcdef0123";
const received = [];
let broken = false;
const receiver = createServer((req, res) => {
    const parts = [];
    req.on("data", (d) => parts.push(d));
    req.on("end", () => {
        const raw = Buffer.concat(parts);
        received.push({ headers: req.headers, raw, body: JSON.parse(raw) });
        res.writeHead(broken ? 500 : 204).end();
    });
});
await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
const hook = `http://127.0.0.1:${receiver.address().port}/hook`;

// Tenants.
const created = await step("tenants.create", () => client.tenants.create({
    tenantId,
    tenantMetadataSchema: [{ name: "department", dataType: "VARCHAR", enableMatch: true }],
}));
assert.equal(created.success, true);
assert.equal(created.data.status, "accepted");
assert.equal(created.data.tenantId, tenantId);
assert.ok(created.meta.requestId);
const status = await until("tenant is ready", async () => {
    const s = await step("tenants.status", () => client.tenants.status({ tenantId }));
    return s.data.infra.readyForIngestion && s;
});
assert.deepEqual([status.data.infra.vectorstoreStatus.knowledge, status.data.infra.vectorstoreStatus.memories], [true, true]);
const tenants = await step("tenants.list", () => client.tenants.list());
assert.deepEqual(tenants.data.tenantIds, [tenantId]);

// Webhook registration, before anything is ingested.
const none = await step("webhooks.get", () => client.webhooks.get());
assert.equal(none.registered, false);
const registered = await step("webhooks.register", () => client.webhooks.register({ url: hook, signingSecret: secret }));
assert.equal(registered.registered, true);
const tested = await step("webhooks.test", () => client.webhooks.test());
assert.equal(tested.delivered, true);
assert.equal(received[0].body.test, true);

// Ingestion of both classes.
const stored = await step("context.ingest", () => client.context.ingest({
    tenantId, subTenantId, type: "knowledge", upsert: true,
    documents: [
        { data: Buffer.from("# Pricing\n\nThe starter plan costs ten dollars a month."), filename: "pricing.md", contentType: "text/markdown" },
        { data: Buffer.from("Every pump is cleaned on Friday by the night shift."), filename: "manual.txt", contentType: "text/plain" },
    ],
    documentMetadata: JSON.stringify([{ id: "pricing", metadata: { department: "sales" } }, { id: "manual", relations: { ids: ["pricing"] } }]),
    appKnowledge: JSON.stringify({ tenant_id: tenantId, sub_tenant_id: subTenantId, id: "ticket", title: "Printer", type: "ticket", content: { text: "The printer is out of toner." } }),
}));
assert.equal(stored.data.successCount, 3);
assert.deepEqual(stored.data.results.map((r) => r.id), ["pricing", "manual", "ticket"]);
const noted = await client.context.ingest({
    tenantId, subTenantId, type: "memory",
    memories: JSON.stringify([{ id: "tea", text: "Bob prefers green tea without sugar.", infer: true }]),
});
assert.equal(noted.data.successCount, 1);
const ids = ["pricing", "manual", "ticket", "tea"];
const statuses = await until("items are completed", async () => {
    const s = await step("context.status", () => client.context.status({ tenantId, subTenantId, ids }));
    return s.data.statuses.every((x) => x.indexingStatus === "completed") && s;
});
assert.deepEqual(statuses.data.statuses.map((x) => x.id), ids);

// Reading.
const answer = await step("query", () => client.query({
    tenantId, subTenantId, query: "what does the starter plan cost?", type: "all", mode: "thinking", maxResults: 3, alpha: 0.7,
    graphContext: true, queryForcefulRelations: true, metadataFilters: { department: "sales" },
}));
assert.equal(answer.data.chunks[0].id, "pricing");
assert.equal(answer.data.sources[0].metadata.department, "sales");
assert.ok(answer.data.chunks[0].relevancyScore > 0);
assert.match(buildString(answer), /ten dollars/);
const exact = await client.query({ tenantId, subTenantId, query: "green tea", type: "memory", queryBy: "text", operator: "phrase" });
assert.equal(exact.data.chunks[0].id, "tea");
const auto = await client.query({ tenantId, subTenantId, query: "who cleans the pumps?", alpha: "auto" });
assert.ok(auto.data.chunks.length > 0);
const inspected = await step("context.inspect", () => client.context.inspect({ tenantId, subTenantId, id: "pricing", mode: "both", expirySeconds: 60 }));
assert.match(inspected.data.content, /starter plan/);
const link = await fetch(new URL(inspected.data.presignedUrl, baseUrl));
assert.equal(link.status, 200);
assert.match(await link.text(), /^# Pricing/);
const listed = await step("context.list", () => client.context.list({
    tenantId, subTenantId, type: "knowledge", page: 1, pageSize: 2, filters: { tenantMetadata: { department: "sales" } }, includeFields: ["title"],
}));
assert.equal(listed.data.total, 1);
const memories = await client.context.list({ tenantId, subTenantId, type: "memory" });
assert.equal(memories.data.total, 1);
const relations = await step("context.relations", () => client.context.relations({ tenantId, subTenantId, id: "manual", limit: 5 }));
assert.ok(Array.isArray(relations.data.relations));
const subs = await step("tenants.subTenants", () => client.tenants.subTenants({ tenantId }));
assert.deepEqual(subs.data.subTenantIds, [subTenantId]);
const stats = await step("tenants.stats", () => client.tenants.stats({ tenantId }));
assert.ok(stats.data.knowledgeCollection.rowCount >= 3);

// Deliveries.
const delivered = await until("four deliveries", async () => {
    const d = await step("webhooks.listDeliveries", () => client.webhooks.listDeliveries({ limit: 10, status: "delivered" }));
    return d.count === ids.length && d;
});
const one = await step("webhooks.getDelivery", () => client.webhooks.getDelivery({ deliveryId: delivered.deliveries[0].delivery_id }));
assert.equal(one.status, "delivered");
for (const { headers, raw, body } of received) {
    assert.equal(headers["x-service-delivery-id"], body.delivery_id);
    assert.equal(headers["x-service-signature"], `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`);
}
broken = true;
await client.context.ingest({ tenantId, subTenantId, type: "memory", memories: JSON.stringify([{ id: "train", text: "Carol takes the early train." }]) });
const failed = await until("a failed delivery", async () => (await client.webhooks.listDeliveries({ status: "failed" })).deliveries[0]);
broken = false;
const retried = await step("webhooks.retryDelivery", () => client.webhooks.retryDelivery({ deliveryId: failed.delivery_id }));
assert.equal(retried.queued, true);
await until("the retry is delivered", async () => (await client.webhooks.getDelivery({ deliveryId: failed.delivery_id })).status === "delivered");

// Requests beside the SDK's own methods.
const feedback = await step("fetch", () => client.fetch("/feedback", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ request_id: answer.meta.requestId, rating: "positive", feedback: "right" }),
}));
assert.equal(feedback.status, 201);
assert.equal((await feedback.json()).data.request_known, true);

// Errors.
const stranger = new HydraDBClient({ token: "nobody", baseUrl, maxRetries: 0 });
await fails("unknown key", 401, HydraDB.UnauthorizedError, "UNAUTHORIZED", () => stranger.tenants.list());
const made = await client.fetch("/api-keys/create_api_key", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ scopes: ["query"] }) });
const reader = new HydraDBClient({ token: (await made.json()).full_api_key, baseUrl, maxRetries: 0 });
await fails("key without the scope", 403, HydraDB.ForbiddenError, "FORBIDDEN", () => reader.tenants.delete({ tenantId }));
await fails("absent tenant", 404, HydraDB.NotFoundError, "DATABASE_NOT_FOUND", () => client.query({ tenantId: "absent", query: "x" }));
await fails("absent source", 404, HydraDB.NotFoundError, "SOURCE_NOT_FOUND", () => client.context.inspect({ tenantId, id: "absent" }));
await fails("absent delivery", 404, HydraDBError, "DELIVERY_NOT_FOUND", () => client.webhooks.getDelivery({ deliveryId: "absent" }));
await fails("tenant that exists", 409, HydraDBError, "INVALID_INPUT", () => client.tenants.create({ tenantId }));
await fails("recency bias out of range", 400, HydraDB.BadRequestError, "INVALID_PARAMETERS", () => client.query({ tenantId, query: "x", recencyBias: 2 }));
await fails("empty memory", 422, HydraDB.UnprocessableEntityError, "VALIDATION_ERROR",
    () => client.context.ingest({ tenantId, type: "memory", memories: JSON.stringify([{ title: "empty" }]) }));

// Deletion.
const removed = await step("context.delete", () => client.context.delete({ tenantId, subTenantId, ids: ["manual", "absent"], type: "knowledge" }));
assert.deepEqual(removed.data.results.map((r) => r.deleted), [true, false]);
const forgotten = await client.context.delete({ tenantId, subTenantId, ids: ["tea"], type: "memory" });
assert.equal(forgotten.success, true);
const unhooked = await step("webhooks.delete", () => client.webhooks.delete());
assert.equal(unhooked.deleted, true);
const gone = await step("tenants.delete", () => client.tenants.delete({ tenantId }));
assert.equal(gone.data.status, "deletion_scheduled");
await fails("deleted tenant", 404, HydraDB.NotFoundError, "DATABASE_NOT_FOUND", () => client.tenants.status({ tenantId }));
receiver.close();

// Nothing that the SDK offers was left out.
const own = (x) => Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(x))).filter(([name]) => name !== "constructor" && !name.startsWith("_"));
const offered = [];
for (const [name, { get, value }] of own(client)) {
    if (typeof value === "function") offered.push(name);
    if (get) offered.push(...own(client[name]).filter(([, d]) => typeof d.value === "function").map(([method]) => `${name}.${method}`)); // a group
}
assert.ok(offered.includes("query") && offered.includes("webhooks.retryDelivery"), `${offered}`);
assert.deepEqual(offered.filter((name) => !covered.has(name)), []);
console.log(`ok: ${offered.length} methods`);
