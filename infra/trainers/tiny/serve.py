"""Chat completions, one request at a time. A reply depends on weights, request and seed."""

import base64
import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

import files
import picture
import policy
import words

FIELDS = {"model", "messages", "seed", "temperature", "top_p", "max_tokens", "max_completion_tokens", "n", "stream", "stop"}
LONGEST = 48  # tokens of one turn
KEPT = 4  # checkpoints in memory


class Refused(Exception):
    def __init__(self, status, code, message):
        super().__init__(message)
        self.status, self.code = status, code


class Server:
    def __init__(self, folders, thumbs):
        self.folders, self.eye = [Path(f) for f in folders], picture.Eye(thumbs)
        self.where, self.loaded, self.lock = {}, {}, threading.Lock()

    def look(self):
        """Find complete checkpoints; half-written ones have another name."""
        for folder in self.folders:
            for path in sorted(folder.glob("checkpoint-*/" + files.MANIFEST)):
                if path not in self.where:
                    try:
                        self.where[path] = files.read_json(path)["weights_digest"]
                    except (files.Unreadable, KeyError, OSError):
                        continue
        return sorted(set(self.where.values()))

    def weights(self, name):
        if name not in self.loaded:
            if name not in self.look():
                raise Refused(404, "model_not_found", f"no complete checkpoint has the weights {name}")
            path = next(p for p, d in self.where.items() if d == name)
            try:
                c = files.Checkpoint(path.parent)
            except (files.Unreadable, OSError) as e:
                raise Refused(503, "checkpoint_unreadable", str(e)) from None
            if c.digest != name:
                raise Refused(503, "checkpoint_unreadable", f"{path.parent} holds other weights than its manifest says")
            while len(self.loaded) >= KEPT:
                self.loaded.pop(next(iter(self.loaded)))
            self.loaded[name] = c.weights
        return self.loaded[name]

    def complete(self, body):
        q = request(body)
        with self.lock:
            w = self.weights(q["model"])
            messages, pictures = read(q["messages"], self.eye)
            sequence = words.Sequence(messages, pictures)
            ids = np.append(sequence.ids, np.int32(words.TURN))
            chance = hashlib.sha256(q["model"].encode() + ids.tobytes() + sequence.patches.tobytes() + files.encode([q["seed"], q["temperature"], q["top_p"]]))
            said, finish = generate(w, ids, sequence.patches, q, np.random.Generator(np.random.PCG64(int.from_bytes(chance.digest(), "little"))))
        return {"id": "tiny-" + chance.hexdigest()[:16], "object": "chat.completion", "created": 0, "model": q["model"],
                "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": words.text(said)}}],
                "usage": {"prompt_tokens": len(ids), "completion_tokens": len(said), "total_tokens": len(ids) + len(said)}}


def request(body):
    """The fields of a request with their defaults; what is not known is refused."""
    try:
        q = json.loads(body)
        unknown = set(q) - FIELDS
        out = {"model": q["model"], "messages": q["messages"], "seed": int(q.get("seed") or 0), "top_p": float(q.get("top_p", 1)),
               "temperature": float(q.get("temperature", 1)), "max_tokens": int(q.get("max_tokens") or q.get("max_completion_tokens") or LONGEST)}
    except (ValueError, KeyError, TypeError) as e:
        raise Refused(400, "invalid_request", f"request: {e}") from None
    if unknown or q.get("n", 1) != 1 or q.get("stream") or q.get("stop"):
        raise Refused(400, "unsupported", f"not done here: {sorted(unknown) or 'n, stream, stop'}")
    if out["temperature"] < 0 or not 0 < out["top_p"] <= 1 or out["max_tokens"] < 1:
        raise Refused(400, "invalid_request", "temperature from 0, top_p in (0, 1], max_tokens from 1")
    out["max_tokens"] = min(out["max_tokens"], LONGEST)
    return out


def read(messages, eye):
    """Messages of a request with their pictures."""
    out, pictures = [], []
    try:
        for m in messages:
            content, parts = m["content"], []
            for p in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if p["type"] == "text":
                    parts.append(p["text"])
                    continue
                head, data = p["image_url"]["url"].split(",", 1)
                if p["type"] != "image_url" or not head.startswith("data:") or not head.endswith(";base64"):
                    raise ValueError("pictures come as data URLs")
                pictures.append(eye.patches(base64.b64decode(data, validate=True)))
                parts.append(None)
            out.append({"role": m["role"], "parts": parts})
    except Refused:
        raise
    except Exception as e:
        raise Refused(400, "invalid_request", f"messages: {e}") from None
    return out, pictures


def generate(w, ids, patches, q, chance):
    """Spoken tokens after the ids, and why they end."""
    x, _ = policy.inputs(w, ids, patches)
    gx = x @ w["input"] + w["bias"]
    h = np.zeros(w["state"].shape[0], np.float32)
    for g in gx:
        h = policy.step(w, g, h)[0]
    said = []
    while len(said) < q["max_tokens"]:
        token = choose((h @ w["output"] + w["prior"]).astype(np.float64), q["temperature"], q["top_p"], chance)
        if token == 0:
            return said, "stop"
        said.append(token)
        h = policy.step(w, w["embed"][token] @ w["input"] + w["bias"], h)[0]
    return said, "length"


def choose(logits, temperature, top_p, chance):
    if temperature == 0:
        return int(logits.argmax())
    p = np.exp((logits - logits.max()) / temperature)
    p /= p.sum()
    if top_p < 1:
        order = np.argsort(-p, kind="stable")
        cut = int(np.searchsorted(np.cumsum(p[order]), top_p)) + 1
        p[order[cut:]] = 0
        p /= p.sum()
    return min(int(np.searchsorted(np.cumsum(p), chance.random(), side="right")), len(p) - 1)


def handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

        def log_message(self, *args):
            pass  # requests hold prompts

        def reply(self, status, value):
            data = files.encode(value)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

        def do_GET(self):
            if self.path.rstrip("/") != "/v1/models":
                return self.reply(404, problem("not_found", "GET /v1/models, POST /v1/chat/completions"))
            with server.lock:
                names = server.look()
            self.reply(200, {"object": "list", "data": [{"id": n, "object": "model", "created": 0, "owned_by": "tiny"} for n in names]})

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.rstrip("/") != "/v1/chat/completions":
                return self.reply(404, problem("not_found", "GET /v1/models, POST /v1/chat/completions"))
            try:
                self.reply(200, server.complete(body))
            except Refused as e:
                self.reply(e.status, problem(e.code, str(e)))
            except Exception as e:
                print(f"tiny: {type(e).__name__}: {e}", file=sys.stderr, flush=True)
                self.reply(500, problem("internal", f"{type(e).__name__}"))
    return Handler


def problem(code, message):
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}}


def serve(a):
    http = ThreadingHTTPServer(("127.0.0.1", a.port), handler(Server(a.checkpoints, a.thumbs)))
    http.daemon_threads = True
    if a.stdin:
        threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{http.server_address[1]}/v1/", "pid": os.getpid()}), flush=True)
    http.serve_forever()
