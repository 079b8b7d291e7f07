# zep-cloud 4.0.1: what its types write.
import json, sys
from zep_cloud.types.edge import Edge
from zep_cloud.types.edge_page import EdgePage
from zep_cloud.types.message import Message
from zep_cloud.types.message_page import MessagePage
edges = EdgePage(items=[
    Edge(uuid="e1", fact="Ann works at Acme", name="WORKS_AT", source_node_name="Ann", target_node_name="Acme", valid_at="2024-05-01T00:00:00Z", created_at="2024-06-01T00:00:00Z", user_uuid="ann"),
    Edge(uuid="e2", fact="Ann lived in Oslo", name="LIVES_IN", valid_at="2020-01-02T00:00:00Z", invalid_at="2021-03-04T00:00:00Z", created_at="2024-06-01T00:00:00Z", user_uuid="ann"),
], total_size=2)
messages = MessagePage(items=[
    Message(uuid="m1", role="user", name="Ann", content="Where did I leave the ladder?", created_at="2024-06-01T10:00:00Z", thread_uuid="t1"),
    Message(uuid="m2", role="assistant", content="Behind the shed.", created_at="2024-06-01T10:00:05Z", thread_uuid="t1"),
    Message(uuid="m3", role="user", name="Ann", content="Thanks.", created_at="2024-06-01T10:01:00Z", thread_uuid="t1"),
], total_size=3)
open(sys.argv[1] + "/zep-cloud-4.0.1-edges.json", "w").write(edges.json())
open(sys.argv[1] + "/zep-cloud-4.0.1-messages.json", "w").write(messages.json())
