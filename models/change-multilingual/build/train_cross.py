"""Trains the cross-encoder (see README.md).

    train_cross.py --data FOLDER --means means.pt --out cross.pt --minutes 60 [--init cross.pt] [--processes 2]

Each process takes its own batches on one thread; their gradients are averaged.
"""
import argparse, collections, glob, json, os, pathlib, random, tempfile, time

import numpy as np, torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

from cross import FIRST, TOKENS, Cross
from data import Sampler, load
from encoder import ANSWERS, REPLACES, Lower, read_weights
from means import tokenizer
from scenes import Scenes, more_pairs, windows
from train import Means, auroc, held_out

HERE = pathlib.Path(__file__).resolve().parent


class States:
    """The vectors of texts after the first layers, kept."""

    def __init__(self, w):
        with tempfile.TemporaryDirectory() as folder:
            self.tok = tokenizer(folder)
        self.tok.enable_truncation(TOKENS)
        self.lower, self.kept = Lower(w, FIRST).eval(), {}

    @torch.no_grad()
    def need(self, texts):
        texts = sorted({t for t in texts if t not in self.kept}, key=len)
        for i in range(0, len(texts), 64):
            part = texts[i:i + 64]
            ids = [e.ids for e in self.tok.encode_batch(part)]
            with torch.autocast("cpu", torch.bfloat16):
                x, _, _ = self.lower(ids)
            for t, v, n in zip(part, x, map(len, ids)):
                self.kept[t] = v[:n].to(torch.bfloat16).clone()

    def __call__(self, text):
        return self.kept[text]


def grams(t):
    t = t.lower()
    return {t[i:i + 4] for i in range(len(t) - 3)} or {t}


class Near:
    """Ranks texts by meaning where means.pt knows them, else by their letters."""

    def __init__(self, means):
        self.m = means

    def __call__(self, texts, text, n):
        if text in self.m.at and all(t in self.m.at for t in texts):
            return self.m.near(texts, text, n)
        g = grams(text)
        overlap = [len(g & o) / len(g | o) for o in map(grams, texts)]
        return sorted(range(len(texts)), key=lambda i: -overlap[i])[:n]


def batches(scenes, states, tokens):
    """Scenes together, up to a number of tokens."""
    batch, n = [], 0
    for s in scenes:
        size = len(states.tok.encode(s[1]).ids) + sum(len(t[0]) // 4 + 4 for t in s[2])
        if batch and n + size > tokens:
            yield batch
            batch, n = [], 0
        batch.append(s)
        n += size
    if batch:
        yield batch


@torch.no_grad()
def score(net, states, pairs, tokens=6000):
    """Logits of (head, a, b, ...): pairs with a marked text in common go together."""
    net.eval()
    groups = collections.defaultdict(list)
    for i, (h, a, b, *_) in enumerate(pairs):
        groups[(h, b if h == REPLACES else a)].append((i, a if h == REPLACES else b))
    out = np.zeros(len(pairs))
    order = sorted(groups.items(), key=lambda g: len(g[0][1]))
    part, n = [], 0
    def run():
        states.need([t for (_, m), xs in part for t in [m, *(t for _, t in xs)]])
        with torch.autocast("cpu", torch.bfloat16):
            l = net([(h, m, [t for _, t in xs]) for (h, m), xs in part], states)
        out[[i for _, xs in part for i, _ in xs]] = l.float().numpy()
    for g in order:
        part.append(g)
        n += len(g[0][1]) // 3 + sum(len(t) // 3 + 4 for _, t in g[1])
        if n > tokens:
            run()
            part, n = [], 0
    if part:
        run()
    return out


def report(net, states, held, share, rng):
    part = [x for x in held if rng.random() < share]
    s = score(net, states, [x[0] for x in part])
    y, kind = np.array([x[0][3] for x in part]), [(x[1] if x[1] != "matters" else "en" if x[0][4] == "en" else "other", x[0][0]) for x in part]
    return {f"{k[0]}.{'AR'[k[1]]}": round(auroc(s[[i for i, x in enumerate(kind) if x == k]], y[[i for i, x in enumerate(kind) if x == k]]), 3) for k in sorted(set(kind))}


def average(net, stop):
    """Averages the gradients of all processes; reports whether one of them wants to stop."""
    ps = list(net.parameters())
    for p in ps:
        p.grad = torch.zeros_like(p) if p.grad is None else p.grad
    flat = torch.cat([p.grad.flatten() for p in ps] + [torch.tensor([float(stop)])])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for p in ps:
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()
    return flat[-1] > 0


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True), a.add_argument("--means", required=True), a.add_argument("--out", required=True), a.add_argument("--init"), a.add_argument("--hold", default="p4a,p7b")
    a.add_argument("--minutes", type=float, default=60), a.add_argument("--lr", type=float, default=1e-4), a.add_argument("--tokens", type=int, default=650), a.add_argument("--steps", type=int, default=0)
    a.add_argument("--check", type=float, default=8)
    a.add_argument("--processes", type=int, default=2)
    a = a.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, (a, "file://" + os.path.join(folder, "meet")), a.processes)


def run(rank, a, meet):
    dist.init_process_group("gloo", init_method=meet, rank=rank, world_size=a.processes)
    torch.set_num_threads(1), torch.manual_seed(1)
    say = (lambda *x: print(*x, flush=True)) if rank == 0 else (lambda *x: None)
    w = read_weights()
    states, means, rng = States(w), Means(a.means), random.Random(7)
    near = Near(means)
    files = lambda: glob.glob(str(HERE / "data" / "*.jsonl"))
    matters, personas = load(a.data, [f for f in files() if "more2" not in f])
    held_m, _ = held_out(matters)
    hold = a.hold.split(",")
    fixed, held = Sampler(held_m, [], means.near, random.Random(1)), []
    for t in held_m:
        held += [(x, "matters") for x in fixed.of_matter(t, True)]
    for p in personas:
        if p["id"] in hold:
            held += [(x, p["id"]) for x in fixed.of_persona(p, True)]
    aside = {s["text"] for m in held_m for s in m["statements"]}
    net = Cross(w)
    if a.init:
        net.load_state_dict(torch.load(a.init))
    torch.manual_seed(rank)
    body = [p for n, p in net.named_parameters() if n.startswith("layers")]
    head = [p for n, p in net.named_parameters() if not n.startswith("layers")]
    opt = torch.optim.AdamW([{"params": body, "base": a.lr, "weight_decay": .01}, {"params": head, "base": 5 * a.lr, "weight_decay": .01}])
    start, step, checked, pairs, extra = time.time(), 0, time.time(), 0, more_pairs()
    losses = collections.deque(maxlen=100)
    done = lambda: (time.time() - start) / 60 / a.minutes
    epoch = 0
    stop = False
    while not stop:
        all_m, _ = load(a.data, files())
        train_m = [v for m in all_m if m["statements"][0]["text"] not in aside for v in windows(m, rng)]
        draw = Scenes(train_m, [p for p in personas if p["id"] not in hold], near, rng).draw(extra)
        say(f"epoch {epoch}: {len(train_m)} matters, {len(draw)} scenes, {sum(len(s[2]) for s in draw)} pairs, {time.time() - start:.0f} s")
        epoch += 1
        todo = list(batches(draw, states, a.tokens))
        pairs_of = [todo[i:i + a.processes] for i in range(0, len(todo) - a.processes + 1, a.processes)]
        random.Random(epoch).shuffle(pairs_of)
        todo = [b for p in pairs_of for b in p]
        for batch in todo[rank:len(todo) - len(todo) % a.processes:a.processes]:
            for g in opt.param_groups:
                g["lr"] = g["base"] * min(1, (step + 1) / 60) * max(.02, 1 - done())
            net.train()
            states.need([t for _, m, ts in batch for t in [m, *(t[0] for t in ts)]])
            y, wt = (torch.tensor([t[k] for s in batch for t in s[2]]) for k in (1, 2))
            with torch.autocast("cpu", torch.bfloat16):
                l = net([(h, m, [t[0] for t in ts]) for h, m, ts in batch], states, .1)
            loss = (F.binary_cross_entropy_with_logits(l.float(), y, reduction="none") * wt).sum() / wt.sum()
            opt.zero_grad(), loss.backward()
            stop = average(net, done() >= 1 or a.steps and step >= a.steps)
            if stop:
                break
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.), opt.step()
            losses.append(loss.item())
            step += 1
            pairs += len(y) * a.processes
            if step % 20 == 0:
                say(step, f"loss {np.mean(losses):.3f} pairs {pairs} {time.time() - start:.0f} s")
            if rank == 0 and time.time() - checked > a.check * 60:
                say(step, report(net, states, held, .15, random.Random(2)), f"{time.time() - start:.0f} s")
                torch.save(net.state_dict(), a.out)
                checked = time.time()
    if rank == 0:
        torch.save(net.state_dict(), a.out)
        say("end", step, report(net, states, held, .5, random.Random(2)), f"{time.time() - start:.0f} s")
    dist.barrier()


if __name__ == "__main__":
    main()
