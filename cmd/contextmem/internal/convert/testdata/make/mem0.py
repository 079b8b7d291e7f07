import json, os, threading, http.server, hashlib, shutil
os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="x", MEM0_DIR="work/home", HOME="work/home")
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        n=int(self.headers['content-length']); b=json.loads(self.rfile.read(n))
        inp=b.get('input'); inp=[inp] if isinstance(inp,str) else inp
        d=[]
        for i,t in enumerate(inp):
            h=hashlib.sha256(str(t).encode()).digest()
            d.append({"object":"embedding","index":i,"embedding":[(h[k%32]-128)/128 for k in range(8)]})
        o=json.dumps({"object":"list","data":d,"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}).encode()
        self.send_response(200); self.send_header('content-type','application/json'); self.send_header('content-length',str(len(o))); self.end_headers(); self.wfile.write(o)
    def log_message(self,*a): pass
s=http.server.ThreadingHTTPServer(('127.0.0.1',0),H); threading.Thread(target=s.serve_forever,daemon=True).start()
base=f"http://127.0.0.1:{s.server_port}/v1"
from mem0 import Memory
shutil.rmtree('work/q',ignore_errors=True)
m=Memory.from_config({"vector_store":{"provider":"qdrant","config":{"path":"work/q","embedding_model_dims":8,"collection_name":"c"}},"embedder":{"provider":"openai","config":{"model":"m","embedding_dims":8,"openai_base_url":base}},"llm":{"provider":"openai","config":{"model":"m","openai_base_url":base}},"history_db_path":"work/history.db"})
m.add([{"role":"user","content":"I drink green tea in the morning."},{"role":"assistant","content":"Noted: green tea."}],user_id="alice",run_id="r1",metadata={"topic":"drinks"},infer=False)
m.add("Rides a red bicycle to work.",user_id="bob",agent_id="helper",infer=False)
r=m.add("Lives in Oslo.",user_id="alice",infer=False)
i=r["results"][0]["id"]
m.update(i,"Lives in Bergen.")
out={"results":[]}
for u in ("alice","bob"):
    try: g=m.get_all(user_id=u)
    except Exception: g=m.get_all(filters={"user_id":u})
    out["results"]+=g["results"]
json.dump(out,open('get_all.json','w'),indent=1)
print(json.dumps(out,indent=1))
os._exit(0)
